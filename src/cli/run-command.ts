import { config as configureZod } from "zod/v4/core";
import { usageError, type CommandError } from "./command-error.js";
import type { CommandDefinition, GlobalFlags } from "./command.js";
import { readEnvironment } from "./environment.js";
import type { FoundCommand } from "./find-command.js";
import { Interruption } from "./interruption.js";
import { loadCommand, type CommandModules } from "./load-command.js";
import { nearestWord } from "../shared/nearest-word.js";
import { Output } from "./output.js";
import type { ParsedCommand } from "./parse-command.js";
import { refuseSecrets } from "./secret-in-arguments.js";
import { openTerminal } from "./terminal.js";
import { version } from "./version.js";

// Compiled validators pay off after hundreds of values; a command reads two or three. Set before any schema is made, which is when zod looks.
configureZod({ jitless: true });

/** Help is shown without all this. */
export type RunnableCommand = Exclude<FoundCommand, { kind: "help" }>;

/** Runs the command, one of the modules, and sets the exit code; every failure is reported here and nowhere else. */
export async function runCommand(found: RunnableCommand, given: readonly string[], modules: CommandModules): Promise<void> {
  const environment = readEnvironment(process.env);
  const terminal = openTerminal(environment, given.includes("--no-color"));
  const json = given.includes("--json") || environment.RUNTIMECTL_OUTPUT === "json";
  const outputFor = (flags: Partial<GlobalFlags>) =>
    new Output(terminal, { json, quiet: flags.quiet ?? false, verbose: flags.verbose ?? false });
  const interruption = new Interruption();
  let output = outputFor({});
  try {
    refuseSecrets(given);
    if (found.kind === "version") return output.result({ version }, version);
    if (found.kind === "unknown") throw unknownCommand(found);
    const definition = await loadCommand(found.words, modules);
    const parsed = await parsedWords(found, definition, terminal.writeStdout);
    if (parsed === undefined) return;
    output = outputFor(parsed.flags);
    const context = {
      flags: parsed.flags,
      environment,
      output,
      terminal,
      workingDirectory: process.cwd(),
      signal: interruption.signal,
      onExit: (cleanUp: () => void) => interruption.onExit(cleanUp),
    };
    await definition.run(context, parsed.invocation);
  } catch (error) {
    const { reportFailure } = await import("./failure.js");
    process.exitCode = reportFailure(interruption.signal.aborted ? interruption.signal.reason : error, output);
  } finally {
    interruption.finish();
  }
}

/** Undefined when the words ask for help, which `onHelp` is then given. Where no words are left, the parser need not be set up. */
async function parsedWords(
  { words, summary, rest }: Extract<RunnableCommand, { kind: "command" }>,
  definition: CommandDefinition,
  onHelp: (text: string) => void,
): Promise<ParsedCommand | undefined> {
  if (rest.length === 0 && !definition.arguments) return { flags: { color: true, input: true }, invocation: { values: [], options: {} } };
  const { parseCommand } = await import("./parse-command.js");
  return parseCommand({ words, summary, definition }, rest, onHelp);
}

function unknownCommand(found: Extract<RunnableCommand, { kind: "unknown" }>): CommandError {
  const written = [found.noun, found.word].filter((word) => word !== undefined).join(" ");
  const nearest = nearestWord(found.word, found.candidates);
  const meant = [found.noun, nearest].filter((word) => word !== undefined).join(" ");
  return usageError(
    found.word.startsWith("-") ? `there is no flag ${written}, and no command is given` : `there is no command ${written}`,
    nearest === undefined ? `runtimectl ${found.noun === undefined ? "" : `${found.noun} `}--help` : `did you mean: runtimectl ${meant}`,
  );
}
