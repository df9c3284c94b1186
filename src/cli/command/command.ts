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
  /** Whether the command prints results and errors as JSON documents, because of `--json` or RUNTIMECTL_OUTPUT=json. */
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly header?: boolean;
  readonly quiet?: boolean;
  /** Number of `-v` flags. Each flag raises the level of HTTP tracing by 1. */
  readonly verbose?: number;
  /** Whether output can contain color. False with `--no-color`. */
  readonly color: boolean;
  /** Whether the command is allowed to prompt the user. False with `--no-input`. */
  readonly input: boolean;
  readonly yes?: boolean;
  readonly confirm?: string;
}

/** The complete input of a command. Commands read nothing from global state, such as the environment of the process. */
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
  /** If true, the connection rejects every request whose method is not GET, HEAD or OPTIONS. */
  readonly isReadOnly?: boolean;
  /**
   * Callback that asks the user for confirmation. Set if the command runs inside `runtimectl tui`. Otherwise the command prompts in the
   * terminal.
   */
  readonly confirm?: (question: { consequence: string; name: string; isProduction: boolean }) => Promise<boolean>;
  /** Aborts on SIGINT and SIGTERM. The reason of the signal is a CommandError that contains the exit code. */
  readonly signal: AbortSignal;
  /** Registers a synchronous clean-up function. The function runs before the process exits, also after an error or a signal. */
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
  /** The spellings of the flag with its placeholder, such as `-o, --out <file>` or `--dry-run`. */
  readonly flags: string;
  readonly description: string;
  /** Whether the user can repeat the flag. The option's value is then a list. */
  readonly repeatable?: boolean;
  /** Whether the option's value is the number of times that the flag occurs. */
  readonly counted?: boolean;
  readonly choices?: readonly string[];
}

export interface CommandDefinition {
  readonly arguments?: readonly ArgumentDefinition[];
  readonly options?: readonly OptionDefinition[];
  /** The fields that `--json=FIELDS` can select. If the JSON document is a list, the fields belong to each row. */
  readonly fields?: readonly string[];
  /** Example command lines, each with a caption, the most common first. The help prints the examples before everything else. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** Further information for the help, one fact per line. */
  readonly notes?: string;
  /**
   * Returns the error for a command line with too many arguments. If this function is not set, the error contains only the number of
   * arguments.
   */
  refuseExcess?(given: readonly string[]): Error;
  /** Runs the command and resolves with its exit code. `undefined` means exit code 0. Rejects if the command fails. */
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
