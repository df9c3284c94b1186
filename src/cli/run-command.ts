import "./jitless-zod.js";
import { commandModules } from "./command-modules.js";
import { usageError, type CommandError } from "./command-error.js";
import type { GlobalFlags } from "./command.js";
import { Concealment } from "./concealment.js";
import { refuseUnknownFields } from "./document-fields.js";
import { readEnvironment, type Environment } from "./environment.js";
import type { FoundCommand } from "./find-command.js";
import { Interruption } from "./interruption.js";
import { loadCommand, type CommandModules } from "./load-command.js";
import { nearestWord } from "../shared/nearest-word.js";
import { chooseFormat, chosenFields, wantsJson, withoutFields, type OutputFormat } from "./output-mode.js";
import { Output, type OutputMode, type Terminal } from "./output.js";
import { parseCommand } from "./parse-command.js";
import { ResultFile } from "./result-file.js";
import { refuseSecrets } from "./secret-in-arguments.js";
import { openTerminal } from "./terminal.js";
import { version } from "./version.js";

/** Help is shown without all this, and completion has its own way. */
export type RunnableCommand = Exclude<FoundCommand, { kind: "help" | "completion" }>;

/** Runs what the command line names, and sets the exit code. */
export async function runCommandLine(found: Exclude<FoundCommand, { kind: "help" }>, given: readonly string[]): Promise<void> {
  if (found.kind !== "completion") return runCommand(found, given, commandModules);
  const { complete } = await import("./completion/complete.js");
  await complete(found.words, commandModules);
}

/** Runs the command, one of the modules, and sets the exit code; every failure is reported here and nowhere else. */
async function runCommand(found: RunnableCommand, given: readonly string[], modules: CommandModules): Promise<void> {
  const environment = readEnvironment(process.env);
  const concealment = new Concealment();
  concealment.add(environment.RUNTIMECTL_KEY?.trim() ?? "");
  const run = new CommandRun({ found, given, modules, environment, concealment });
  // To the very end: Node's own report of what nobody caught shows whatever the error holds.
  process.on("uncaughtException", (error) => run.crash(error));
  try {
    await run.run();
  } catch (error) {
    await run.fail(error);
  } finally {
    run.finish();
    await run.crashed;
  }
}

interface CommandRunOptions {
  readonly found: RunnableCommand;
  readonly given: readonly string[];
  readonly modules: CommandModules;
  readonly environment: Environment;
  readonly concealment: Concealment;
}

class CommandRun {
  readonly #options: CommandRunOptions;
  readonly #terminal: Terminal;
  readonly #interruption = new Interruption();
  #output: Output;
  #resultFile: ResultFile | undefined;
  /** Never settles: the process ends first. */
  crashed: Promise<never> | undefined;

  constructor(options: CommandRunOptions) {
    const { given, environment, concealment } = options;
    this.#options = options;
    this.#terminal = openTerminal(environment, given.includes("--no-color"));
    this.#output = new Output(this.#terminal, { format: wantsJson(given, environment) ? "json" : "automatic", concealment });
  }

  async run(): Promise<void> {
    const { found, given, modules, environment } = this.#options;
    refuseSecrets(given);
    const format = chooseFormat(given, environment);
    if (found.kind === "unknown") throw unknownCommand(found);
    if (found.kind === "version") return this.#openOutput(format, {}).result({ version }, version);
    const definition = await loadCommand(found.words, modules);
    const parsed = parseCommand({ ...found, definition }, withoutFields(found.rest), this.#terminal.writeStdout);
    if (parsed === undefined) return;
    const output = this.#openOutput(format, parsed.flags);
    const fields = chosenFields(given);
    if (fields) refuseUnknownFields(fields, definition.fields, found.words);
    const context = {
      flags: { ...parsed.flags, json: format === "json" },
      environment,
      output,
      terminal: this.#terminal,
      workingDirectory: process.cwd(),
      signal: this.#interruption.signal,
      onExit: (cleanUp: () => void) => this.#interruption.onExit(cleanUp),
    };
    const exitCode = await definition.run(context, parsed.invocation);
    if (exitCode !== undefined) process.exitCode = exitCode;
  }

  async fail(error: unknown): Promise<void> {
    const { signal } = this.#interruption;
    const { reportFailure } = await import("./failure.js");
    process.exitCode = reportFailure(signal.aborted ? signal.reason : error, this.#output);
  }

  /** Nothing can be said of the rest of the process: it ends as soon as this is said. */
  crash(thrown: unknown): void {
    this.crashed = this.fail(thrown).then(
      () => process.exit(),
      () => process.exit(),
    );
  }

  finish(): void {
    this.#interruption.finish();
    this.#resultFile?.close();
  }

  #openOutput(format: OutputFormat, flags: Partial<GlobalFlags>): Output {
    const { found, given, environment, concealment } = this.#options;
    const { header = false, quiet = false, verbose = 0 } = flags;
    const mode: OutputMode = {
      format,
      fields: chosenFields(given),
      header,
      quiet,
      verbosity: environment.RUNTIMECTL_DEBUG === undefined ? verbose : 2,
      concealment,
    };
    this.#output = new Output(this.#terminal, mode);
    const file = environment.RUNTIMECTL_OUTPUT_FILE;
    if (file === undefined) return this.#output;
    this.#resultFile = ResultFile.open(file, found.kind === "command" ? found.words : found.kind, concealment);
    return (this.#output = new Output(this.#terminal, { ...mode, resultFile: this.#resultFile }));
  }
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
