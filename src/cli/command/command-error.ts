import { exitCodes, type ExitCode } from "./exit-codes.js";

export interface CommandErrorOptions {
  readonly exitCode: ExitCode;
  /** What to do next, one sentence or a command line. */
  readonly hint?: string | undefined;
  readonly details?: unknown;
  readonly cause?: unknown;
  /** Of the answer that brought the failure, when one did. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
}

/** A failure that the command line itself found. `code` is for scripts, `message` for people. */
export class CommandError extends Error {
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly details: unknown;
  readonly status: number | undefined;
  readonly requestId: string | undefined;

  constructor(code: string, message: string, options: CommandErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CommandError";
    this.code = code;
    this.exitCode = options.exitCode;
    this.hint = options.hint;
    this.details = options.details;
    this.status = options.status;
    this.requestId = options.requestId;
  }
}

/** The command line was written wrongly, or needs an answer that nobody is there to give. */
export function usageError(message: string, hint?: string): CommandError {
  return new CommandError("USAGE", message, { exitCode: exitCodes.usage, hint });
}
