import { exitCodes, type ExitCode } from "./exit-codes.js";

export interface CommandErrorOptions {
  readonly exitCode: ExitCode;
  /** Fix for the error: one sentence or a command line. */
  readonly hint?: string | undefined;
  readonly details?: unknown;
  readonly cause?: unknown;
  /** HTTP status of the failed response. Undefined if no response arrived. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
}

/** An error that runtimectl itself detects. Scripts evaluate `code`, and users read `message`. */
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

/** Returns the error for a wrong command line, or for a missing value if no prompt can ask for the value. */
export function usageError(message: string, hint?: string): CommandError {
  return new CommandError("USAGE", message, { exitCode: exitCodes.usage, hint });
}
