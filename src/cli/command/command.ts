import type { Environment } from "../config/environment.js";
import type { ExitCode } from "./exit-codes.js";
import type { Io } from "../output/io.js";
import type { Output, Terminal } from "../output/output.js";
import type { UserDirectories, Variables } from "../config/user-directories.js";

/** The flags that every command accepts. */
export interface GlobalFlags {
  readonly profile?: string;
  readonly url?: string;
  readonly keyFile?: string;
  readonly cacert?: string;
  readonly insecure?: boolean;
  readonly timeout?: string;
  /** Whether results and errors are JSON documents: with `--json` or RUNTIMECTL_OUTPUT=json. */
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly header?: boolean;
  readonly quiet?: boolean;
  /** Number of `-v` flags. Each raises the level of HTTP tracing. */
  readonly verbose?: number;
  /** Whether color is allowed. False with `--no-color`. */
  readonly color: boolean;
  /** Whether prompts are allowed. False with `--no-input`. */
  readonly input: boolean;
  readonly yes?: boolean;
  readonly confirm?: string;
}

/** The complete input of a command. Commands read no global state except this context. */
export interface Context {
  readonly flags: GlobalFlags;
  readonly environment: Environment;
  /** All environment variables of the process. Commands pass them to child processes. */
  readonly variables: Variables;
  readonly directories: UserDirectories;
  readonly output: Output;
  readonly io: Io;
  readonly terminal: Terminal;
  readonly workingDirectory: string;
  /** If true, the connection rejects requests with methods other than GET, HEAD and OPTIONS. */
  readonly isReadOnly?: boolean;
  /** Asks for a confirmation in place of a terminal prompt. Set if a command runs inside `runtimectl tui`. */
  readonly confirm?: (question: { consequence: string; name: string; isProduction: boolean }) => Promise<boolean>;
  /** Aborts on SIGINT and SIGTERM. The reason is a CommandError with the exit code. */
  readonly signal: AbortSignal;
  /** Registers a synchronous clean-up function that always runs before the process exits. */
  readonly onExit: (cleanUp: () => void) => void;
}

export interface ArgumentDefinition {
  /** Form of the argument: `<name>` is required, `[path]` is optional, `<id...>` accepts several values. */
  readonly syntax: string;
  readonly description: string;
  readonly default?: string;
  readonly choices?: readonly string[];
}

export interface OptionDefinition {
  /** The names of the flag and its placeholder, such as `-o, --out <file>` or `--dry-run`. */
  readonly flags: string;
  readonly description: string;
  /** Whether the flag can be repeated. The value of the option is then a list. */
  readonly repeatable?: boolean;
  /** Whether occurrences of the flag are counted. The value of the option is then their number. */
  readonly counted?: boolean;
  readonly choices?: readonly string[];
}

export interface CommandDefinition {
  readonly arguments?: readonly ArgumentDefinition[];
  readonly options?: readonly OptionDefinition[];
  /** The fields that `--json=FIELDS` can select. If the document is a list, the fields belong to its rows. */
  readonly fields?: readonly string[];
  /** Example command lines, each with a caption, the most common first. The help starts with these examples. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** Further information for the help, one fact per line. */
  readonly notes?: string;
  /**
   * Returns the error for a command line with too many arguments. If this function is missing, the error states only the number of
   * arguments.
   */
  refuseExcess?(given: readonly string[]): Error;
  /** Runs the command and resolves with its exit code; undefined means 0. Rejects if the command fails. */
  run(context: Context, invocation: Invocation): Promise<ExitCode | void>;
}

/** The parsed command line: positional arguments in the order of their definition, and options by name in camel case. */
export interface Invocation {
  readonly values: readonly (string | readonly string[] | undefined)[];
  readonly options: Readonly<Record<string, unknown>>;
}

interface TypedDefinition<Values extends readonly unknown[], Options> extends Omit<CommandDefinition, "run"> {
  run(context: Context, values: Values, options: Options): Promise<ExitCode | void>;
}

/** Returns a command definition whose `run` function has typed arguments and options. */
export function defineCommand<Values extends readonly unknown[], Options = object>(
  definition: TypedDefinition<Values, Options>,
): CommandDefinition {
  return {
    ...definition,
    run: (context, invocation) => definition.run(context, invocation.values as unknown as Values, invocation.options as Options),
  };
}
