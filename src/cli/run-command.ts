import { commandHints, verbHints } from "./command/command-aliases.js";
import { helpStyleOf } from "./command/help-layout.js";
import "./jitless-zod.js";
import { CleanUps } from "./command/signal-handler.js";
import { CommandError, usageError } from "./command/command-error.js";
import { commandModules, loadCommand } from "./command/command-registry.js";
import type { Context, GlobalFlags } from "./command/command.js";
import { Redactor } from "./output/redactor.js";
import { refuseUnknownFields, chooseFormat, chosenFields, wantsJson, withoutFields, type OutputFormat } from "./output/output-format.js";
import { readEnvironment } from "./config/environment.js";
import { exitCodes, type ExitCode } from "./command/exit-codes.js";
import type { CommandMatch } from "./command/find-command.js";
import { nearestWord } from "../shared/nearest-word.js";
import { Output, type OutputMode } from "./output/output.js";
import { parseCommand } from "./command/parse-command.js";
import { ResultFile } from "./output/result-file.js";
import type { CommandLine } from "./run-cli.js";
import { refuseSecrets } from "./command/secret-in-arguments.js";
import { openTerminal } from "./output/terminal.js";
import { userDirectories } from "./config/user-directories.js";
import { version } from "./version.js";

/** A command line that selects a command: it requests neither help nor completion candidates. */
type RunnableCommand = Exclude<CommandMatch, { kind: "help" | "completion" }>;

/** Runs a command, or prints the completion candidates for a word. Resolves with the exit code. */
export async function runCommand(found: Exclude<CommandMatch, { kind: "help" }>, line: CommandLine): Promise<ExitCode> {
  const cleanUps = new CleanUps();
  line.onExit?.(() => cleanUps.run());
  const controller = new AbortController();
  const abort = () => controller.abort(interruption(line.signal?.reason));
  line.signal?.addEventListener("abort", abort, { once: true });
  if (line.signal?.aborted) abort();
  const surroundings = surroundingsOf(line, { signal: controller.signal, onExit: cleanUps.add });
  try {
    if (found.kind !== "completion") return await new CommandRun(found, line, surroundings).run();
    const { complete } = await import("./completion/complete.js");
    return await complete(found.words, surroundings, commandModules);
  } finally {
    line.signal?.removeEventListener("abort", abort);
    cleanUps.run();
  }
}

type Surroundings = Omit<Context, "flags" | "output">;

function surroundingsOf({ argv, env, cwd, io }: CommandLine, lifetime: Pick<Context, "signal" | "onExit">): Surroundings {
  const environment = readEnvironment(env);
  const terminal = openTerminal(io, environment, argv.includes("--no-color"));
  // Sets FORCE_COLOR in the environment of the process, because the npm packages for spinners and prompts read the variable from there.
  if (!terminal.hasColor) env["FORCE_COLOR"] = "0";
  return { environment, variables: env, directories: userDirectories(env), io, terminal, workingDirectory: cwd, ...lifetime };
}

/** Returns the error with which an interrupted command ends. `reason` is the reason of the aborted signal. */
function interruption(reason: unknown): CommandError {
  return reason instanceof CommandError
    ? reason
    : new CommandError("INTERRUPTED", "the command was interrupted", { exitCode: exitCodes.interrupted });
}

class CommandRun {
  readonly #found: RunnableCommand;
  readonly #line: CommandLine;
  readonly #surroundings: Surroundings;
  readonly #redactor = new Redactor();
  #output: Output;
  #resultFile: ResultFile | undefined;

  constructor(found: RunnableCommand, line: CommandLine, surroundings: Surroundings) {
    const { environment, terminal } = surroundings;
    this.#found = found;
    this.#line = line;
    this.#surroundings = surroundings;
    this.#redactor.add(environment.RUNTIMECTL_KEY?.trim() ?? "");
    this.#output = new Output(terminal, {
      format: wantsJson(line.argv, environment) ? "json" : "automatic",
      redactor: this.#redactor,
    });
  }

  /** Runs the command and prints every error. Resolves with the exit code. */
  async run(): Promise<ExitCode> {
    const { crashed } = this.#line;
    const { signal } = this.#surroundings;
    try {
      return await (crashed ? Promise.race([this.#perform(), crashed]) : this.#perform());
    } catch (error) {
      const { reportFailure } = await import("./command/failure.js");
      return reportFailure(signal.aborted ? signal.reason : error, this.#output);
    } finally {
      this.#resultFile?.close();
    }
  }

  async #perform(): Promise<ExitCode> {
    const found = this.#found;
    const given = this.#line.argv;
    refuseSecrets(given);
    const format = chooseFormat(given, this.#surroundings.environment);
    if (found.kind === "unknown") throw unknownCommand(found);
    if (found.kind === "version") {
      this.#openOutput(format, {}).result({ version }, version);
      return exitCodes.ok;
    }
    const definition = await loadCommand(found.words, commandModules);
    const { terminal } = this.#surroundings;
    const help = { style: helpStyleOf(terminal), onHelp: terminal.writeStdout };
    const parsed = parseCommand({ ...found, definition }, withoutFields(found.rest), help);
    if (parsed === undefined) return exitCodes.ok;
    const output = this.#openOutput(format, parsed.flags);
    const fields = chosenFields(given);
    if (fields) refuseUnknownFields(fields, definition.fields, found.words);
    const flags = { ...parsed.flags, json: format === "json" };
    return (await definition.run({ ...this.#surroundings, flags, output }, parsed.invocation)) ?? exitCodes.ok;
  }

  #openOutput(format: OutputFormat, flags: Partial<GlobalFlags>): Output {
    const { environment, terminal, workingDirectory } = this.#surroundings;
    const { header = false, quiet = false, verbose = 0 } = flags;
    const mode: OutputMode = {
      format,
      fields: chosenFields(this.#line.argv),
      header,
      quiet,
      verbosity: environment.RUNTIMECTL_DEBUG === undefined ? verbose : 2,
      redactor: this.#redactor,
      connectionFlags: flags,
    };
    this.#output = new Output(terminal, mode);
    const file = environment.RUNTIMECTL_OUTPUT_FILE;
    if (file === undefined) return this.#output;
    const command = this.#found.kind === "command" ? this.#found.words : this.#found.kind;
    this.#resultFile = ResultFile.open(file, { workingDirectory, command, redactor: this.#redactor });
    return (this.#output = new Output(terminal, { ...mode, resultFile: this.#resultFile }));
  }
}

/** Minimum length in letters of an alias that is suggested for a typing error. A shorter alias is similar to almost every short word. */
const shortestSuggestion = 3;

function unknownCommand(found: Extract<RunnableCommand, { kind: "unknown" }>): CommandError {
  const written = [found.noun, found.word].filter((word) => word !== undefined).join(" ");
  const hints = found.noun === undefined ? commandHints : verbHints;
  const instead = Object.hasOwn(hints, written) ? hints[written] : undefined;
  if (instead !== undefined) return usageError(`there is no command ${written}`, instead);
  const nearest = nearestWord(found.word, [...found.candidates, ...found.aliases.filter(({ length }) => length >= shortestSuggestion)]);
  const meant = [found.noun, nearest].filter((word) => word !== undefined).join(" ");
  return usageError(
    found.word.startsWith("-") ? `there is no flag ${written}, and no command is given` : `there is no command ${written}`,
    nearest === undefined ? `runtimectl ${found.noun === undefined ? "" : `${found.noun} `}--help` : `did you mean: runtimectl ${meant}`,
  );
}
