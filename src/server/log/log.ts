import pino, { type Logger } from "pino";
import { LogOutput } from "./log-output.js";

/** Names of headers and fields whose values are secrets. */
const secretFields = ["key", "rootKey", "cookie", "authorization", "token", '*["x-api-key"]', "*.authorization", "*.cookie", "*.key"];

export type Log = Logger;

/** Formats a JSON line for reading in a terminal. */
type LineForm = (line: string) => string;

interface LogOptions {
  /** The level, as a name of pino. */
  readonly level: string;
  readonly output?: LogOutput;
  /** Formatter of the lines. Default: JSON. */
  readonly form?: LineForm | undefined;
  /** Called for each child logger. */
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
    log.warn({ lines }, "log lines were dropped: stdout does not accept them fast enough; check the log reader and the disk");
  return log;
}

/** Returns a formatter for terminals. */
export async function readableForm(): Promise<LineForm> {
  const { default: pretty } = await import("pino-pretty");
  return pretty.prettyFactory({ ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" });
}

/** Serializes any thrown value. Reading a value that a plugin threw can itself throw, which must not stop the logger. */
function errorFields(error: unknown): unknown {
  try {
    return pino.stdSerializers.err(error as Error);
  } catch {
    return { type: "unknown", message: "An error that cannot be described." };
  }
}

/** Changes the level of a logger and of all its children: pino copies the level to a child only at its creation. */
export class LogLevel {
  readonly #children = new Set<WeakRef<Log>>();
  readonly #forgotten = new FinalizationRegistry<WeakRef<Log>>((child) => this.#children.delete(child));
  #log: Log | undefined;

  /** Registers a child logger. Must be called for each child. */
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

  /** Sets the level of all loggers; `level` is a level of pino. */
  set(level: string): void {
    for (const log of [this.#log, ...[...this.#children].map((child) => child.deref())]) if (log) log.level = level;
  }
}
