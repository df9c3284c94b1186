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
  /** True with `--json` or RUNTIMECTL_OUTPUT=json. */
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly header?: boolean;
  readonly quiet?: boolean;
  /** The number of `-v` flags. */
  readonly verbose?: number;
  /** False with `--no-color`. */
  readonly color: boolean;
  /** False with `--no-input`. */
  readonly input: boolean;
  readonly yes?: boolean;
  readonly confirm?: string;
}

/** The complete input of a command. Commands read no global state beside this context. */
export interface Context {
  readonly flags: GlobalFlags;
  readonly environment: Environment;
  /** The whole environment, passed to child processes. */
  readonly variables: Variables;
  readonly directories: UserDirectories;
  readonly output: Output;
  readonly io: Io;
  readonly terminal: Terminal;
  readonly workingDirectory: string;
  /** Rejects requests with methods other than GET, HEAD and OPTIONS. */
  readonly isReadOnly?: boolean;
  /** Replaces the terminal prompts when a command runs inside the dashboard. */
  readonly confirm?: (question: { consequence: string; name: string; isProduction: boolean }) => Promise<boolean>;
  /** Aborts with a CommandError on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Registers a synchronous clean-up that always runs before the process exits. */
  readonly onExit: (cleanUp: () => void) => void;
}

export interface ArgumentDefinition {
  /** `<name>`, `[path]`, `<id...>`. */
  readonly syntax: string;
  readonly description: string;
  readonly default?: string;
  readonly choices?: readonly string[];
}

export interface OptionDefinition {
  /** `-o, --out <file>`, `--dry-run`. */
  readonly flags: string;
  readonly description: string;
  /** The flag can be repeated; the value is a list. */
  readonly repeatable?: boolean;
  /** The flag has no value; the value is the number of its occurrences. */
  readonly counted?: boolean;
  readonly choices?: readonly string[];
}

export interface CommandDefinition {
  readonly arguments?: readonly ArgumentDefinition[];
  readonly options?: readonly OptionDefinition[];
  /** The fields that `--json=FIELDS` can select. If the document is a list, these are the fields of its rows. */
  readonly fields?: readonly string[];
  /** Command lines with a caption each, the most common first. Help starts with them. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** Further facts, one per line. */
  readonly notes?: string;
  /** Resolves with the exit code; undefined means 0. Rejects on failure. */
  run(context: Context, invocation: Invocation): Promise<ExitCode | void>;
}

/** Positional arguments in the order of their definition, and the options of the command in camel case. */
export interface Invocation {
  readonly values: readonly (string | readonly string[] | undefined)[];
  readonly options: Readonly<Record<string, unknown>>;
}

interface TypedDefinition<Values extends readonly unknown[], Options> extends Omit<CommandDefinition, "run"> {
  run(context: Context, values: Values, options: Options): Promise<ExitCode | void>;
}

/** Types the arguments and options that `run` receives. */
export function defineCommand<Values extends readonly unknown[], Options = object>(
  definition: TypedDefinition<Values, Options>,
): CommandDefinition {
  return {
    ...definition,
    run: (context, invocation) => definition.run(context, invocation.values as unknown as Values, invocation.options as Options),
  };
}
