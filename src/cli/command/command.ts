import type { Environment } from "../config/environment.js";
import type { ExitCode } from "./exit-codes.js";
import type { Io } from "../output/io.js";
import type { Output, Terminal } from "../output/output.js";
import type { UserDirectories, Variables } from "../config/user-directories.js";

/** The flags that every command takes. */
export interface GlobalFlags {
  readonly profile?: string;
  readonly url?: string;
  readonly keyFile?: string;
  readonly cacert?: string;
  readonly insecure?: boolean;
  readonly timeout?: string;
  /** Set by RUNTIMECTL_OUTPUT, too. */
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly header?: boolean;
  readonly quiet?: boolean;
  /** How often it was given. */
  readonly verbose?: number;
  /** False with `--no-color`. */
  readonly color: boolean;
  /** False with `--no-input`. */
  readonly input: boolean;
  readonly yes?: boolean;
  readonly confirm?: string;
}

/** What a command works with; nothing else is read from the air. */
export interface Context {
  readonly flags: GlobalFlags;
  readonly environment: Environment;
  /** All variables, for the programs that a command starts. */
  readonly variables: Variables;
  readonly directories: UserDirectories;
  readonly output: Output;
  readonly io: Io;
  readonly terminal: Terminal;
  readonly workingDirectory: string;
  /** Nothing is sent to a daemon that could change anything there. */
  readonly isReadOnly?: boolean;
  /** Asks what prompts would ask, where a command runs inside of the dashboard. */
  readonly confirm?: (question: { consequence: string; name: string; isProduction: boolean }) => Promise<boolean>;
  /** Aborts with a CommandError when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Runs before the process ends, in any case; must not wait. */
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
  /** May be given more than once; the value is a list. */
  readonly repeatable?: boolean;
  /** Takes no value and counts how often it was given. */
  readonly counted?: boolean;
  readonly choices?: readonly string[];
}

export interface CommandDefinition {
  readonly arguments?: readonly ArgumentDefinition[];
  readonly options?: readonly OptionDefinition[];
  /** The fields of its document that `--json=FIELDS` may choose: of a list those of its rows, otherwise those of the document. */
  readonly fields?: readonly string[];
  /** Command line and what it does, most usual first: help starts with them. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** What the examples cannot say, a sentence a line. */
  readonly notes?: string;
  /** Resolves with the exit code; nothing is 0. A failure rejects. */
  run(context: Context, invocation: Invocation): Promise<ExitCode | void>;
}

/** Positional arguments in the order of their definition, and the command's own options in camel case. */
export interface Invocation {
  readonly values: readonly (string | readonly string[] | undefined)[];
  readonly options: Readonly<Record<string, unknown>>;
}

interface TypedDefinition<Values extends readonly unknown[], Options> extends Omit<CommandDefinition, "run"> {
  run(context: Context, values: Values, options: Options): Promise<ExitCode | void>;
}

/** Ties what a command declares to the types its `run` works with. */
export function defineCommand<Values extends readonly unknown[], Options = object>(
  definition: TypedDefinition<Values, Options>,
): CommandDefinition {
  return {
    ...definition,
    run: (context, invocation) => definition.run(context, invocation.values as unknown as Values, invocation.options as Options),
  };
}
