import { readEnvironment } from "./config/environment.js";
import type { ExitCode } from "./command/exit-codes.js";
import { matchCommand } from "./command/find-command.js";
import { helpStyleOf } from "./command/help-layout.js";
import type { Io } from "./output/io.js";
import { openTerminal } from "./output/terminal.js";

/** The complete input of one run of runtimectl. The command reads nothing else from the process. */
export interface CommandLine {
  /** The words of the command line after the program name. */
  readonly argv: readonly string[];
  /** The environment variables. If color is disabled, the command sets FORCE_COLOR to 0 in this object. */
  readonly env: Record<string, string | undefined>;
  readonly cwd: string;
  readonly io: Io;
  /**
   * Aborts the command. If the reason of the signal is a CommandError, the exit code comes from this error. Otherwise the exit code is 130.
   */
  readonly signal?: AbortSignal;
  /** Registers a clean-up function. The function runs if the process exits before the command ends. */
  readonly onExit?: (cleanUp: () => void) => void;
  /** Rejects with an error that no code has caught. The command then fails with this error. */
  readonly crashed?: Promise<never>;
}

/** Runs one command line and resolves with the exit code. Prints every error to stderr and never rejects. */
export async function runCli(line: CommandLine): Promise<ExitCode> {
  const found = matchCommand(line.argv);
  // Prints help without loading the module of a command, because loading it would double the time until the first line.
  if (found.kind === "help") {
    const terminal = openTerminal(line.io, readEnvironment(line.env), line.argv.includes("--no-color"));
    line.io.writeStdout(found.text(helpStyleOf(terminal)));
    return 0;
  }
  const { runCommand } = await import("./run-command.js");
  return runCommand(found, line);
}
