import { readEnvironment } from "./config/environment.js";
import type { ExitCode } from "./command/exit-codes.js";
import { matchCommand } from "./command/find-command.js";
import { helpStyleOf } from "./command/help-layout.js";
import type { Io } from "./output/io.js";
import { openTerminal } from "./output/terminal.js";

/** The complete input of a command line. Nothing else is read from the process. */
export interface CommandLine {
  /** The words after the name of the program. */
  readonly argv: readonly string[];
  /** The environment. Sets its FORCE_COLOR to 0 if color is disabled. */
  readonly env: Record<string, string | undefined>;
  readonly cwd: string;
  readonly io: Io;
  /** Aborts the command. The exit code is that of the CommandError in the signal's reason, otherwise 130. */
  readonly signal?: AbortSignal;
  /** Receives a clean-up for the case that the process exits before the command ends. */
  readonly onExit?: (cleanUp: () => void) => void;
  /** Rejects with an error that no code caught; the command fails with it. */
  readonly crashed?: Promise<never>;
}

/** Runs one command line to its end and resolves with the exit code. Reports every failure on stderr, so it does not reject. */
export async function runCli(line: CommandLine): Promise<ExitCode> {
  const found = matchCommand(line.argv);
  // Help needs none of the modules that run commands; loading them would double the time to the first line.
  if (found.kind === "help") {
    const terminal = openTerminal(line.io, readEnvironment(line.env), line.argv.includes("--no-color"));
    line.io.writeStdout(found.text(helpStyleOf(terminal)));
    return 0;
  }
  const { runCommand } = await import("./run-command.js");
  return runCommand(found, line);
}
