import { readEnvironment } from "./config/environment.js";
import type { ExitCode } from "./command/exit-codes.js";
import { matchCommand } from "./command/find-command.js";
import { helpStyleOf } from "./command/help-layout.js";
import type { Io } from "./output/io.js";
import { openTerminal } from "./output/terminal.js";

/** The complete input of a command line. The command reads nothing else from the process. */
export interface CommandLine {
  /** The command-line words after the program name. */
  readonly argv: readonly string[];
  /** The environment variables. The command sets FORCE_COLOR to 0 in this object if color is disabled. */
  readonly env: Record<string, string | undefined>;
  readonly cwd: string;
  readonly io: Io;
  /** Aborts the command. If the reason is a CommandError, the command exits with the error's exit code, otherwise with 130. */
  readonly signal?: AbortSignal;
  /** Registers a clean-up function that runs if the process exits before the command ends. */
  readonly onExit?: (cleanUp: () => void) => void;
  /** Rejects when an error was not caught anywhere. The command then fails with that error. */
  readonly crashed?: Promise<never>;
}

/** Runs one command line and resolves with the exit code. Reports every failure on stderr and never rejects. */
export async function runCli(line: CommandLine): Promise<ExitCode> {
  const found = matchCommand(line.argv);
  // Loads no module of a command for help, because this would double the time until the first line.
  if (found.kind === "help") {
    const terminal = openTerminal(line.io, readEnvironment(line.env), line.argv.includes("--no-color"));
    line.io.writeStdout(found.text(helpStyleOf(terminal)));
    return 0;
  }
  const { runCommand } = await import("./run-command.js");
  return runCommand(found, line);
}
