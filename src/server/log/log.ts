import pino, { type Logger } from "pino";
import { LogOutput } from "./log-output.js";

/** Names of headers and fields whose values are secrets. The log contains `[secret]` in place of each value. */
const secretFields = ["key", "rootKey", "cookie", "authorization", "token", '*["x-api-key"]', "*.authorization", "*.cookie", "*.key"];

export type Log = Logger;

/** Converts a log line from JSON to text for a terminal. */
type LineForm = (line: string) => string;

interface LogOptions {
  /** Name of the log level in pino, such as `info`. */
  readonly level: string;
  readonly output?: LogOutput;
  /** Formatter of the log lines. If undefined, each line is JSON. */
  readonly form?: LineForm | undefined;
  /** Called for each child logger that is created. */
  readonly onChild?: (child: Log) => void;
}

export function createLog({ level, output = new LogOutput(), form = (line) => line, onChild }: LogOptions): Log {
  const log = pino(
    {
      level,
      serializers: { err: errorFields },
      ...(onChild && { onChild }),
      redact: { paths: secretFields, censor: "[secret]" },
    },
    { write: (line) => output.write(form(line)) },
  );
  output.onLost = (lines) =>
    log.warn({ lines }, "log lines were dropped, because stdout did not accept them fast enough: check the log reader and the disk");
  return log;
}

/** Returns a formatter that makes log lines readable in a terminal. */
export async function readableForm(): Promise<LineForm> {
  const { default: pretty } = await import("pino-pretty");
  return pretty.prettyFactory({ ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" });
}

/** Returns the log fields of any thrown value. If reading the value throws, which a plugin can cause, the logger continues. */
function errorFields(error: unknown): unknown {
  try {
    return pino.stdSerializers.err(error as Error);
  } catch {
    return { type: "unknown", message: "An error that cannot be described." };
  }
}

/**
 * Changes the level of a logger and of all its child loggers. pino copies the level to a child logger only once, when it creates the child
 * logger.
 */
export class LogLevel {
  readonly #children = new Set<WeakRef<Log>>();
  readonly #forgotten = new FinalizationRegistry<WeakRef<Log>>((child) => this.#children.delete(child));
  #log: Log | undefined;

  /** Registers a child logger, so that `set` also changes its level. Pass this function to the logger as `onChild`. */
  readonly noteChild = (child: Log): void => {
    const reference = new WeakRef(child);
    this.#children.add(reference);
    this.#forgotten.register(child, reference);
  };

  of(log: Log): void {
    this.#log = log;
  }

  get current(): string | undefined {
    return this.#log?.level;
  }

  /** Sets the level of the logger and all registered child loggers. `level` is a level of pino. */
  set(level: string): void {
    for (const log of [this.#log, ...[...this.#children].map((child) => child.deref())]) if (log) log.level = level;
  }
}
