import pino, { type Logger } from "pino";
import { LogOutput } from "./log-output.js";

/** Header and field names whose values are secrets. */
const secretFields = ["key", "rootKey", "cookie", "authorization", "token", '*["x-api-key"]', "*.authorization", "*.cookie", "*.key"];

export type Log = Logger;

/** What turns a line of JSON into what people read. */
type LineForm = (line: string) => string;

interface LogOptions {
  /** One of pino's. */
  readonly level: string;
  readonly output?: LogOutput;
  /** Lines are JSON without it. */
  readonly form?: LineForm | undefined;
  /** Hears of each log that is made of this one. */
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
  output.onLost = (lines) => log.warn({ lines }, "lines of the log were lost: stdout did not take them in time");
  return log;
}

/** For terminals. */
export async function readableForm(): Promise<LineForm> {
  const { default: pretty } = await import("pino-pretty");
  return pretty.prettyFactory({ ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" });
}

/** What plugins throw may throw when it is looked at: that must not be the end of whoever logs it. */
function errorFields(error: unknown): unknown {
  try {
    return pino.stdSerializers.err(error as Error);
  } catch {
    return { type: "unknown", message: "An error that cannot be shown." };
  }
}

/** Changes the level of a log and of all that were made of it: pino gives a child its parent's level when it is made, and never again. */
export class LogLevel {
  readonly #children = new Set<WeakRef<Log>>();
  readonly #forgotten = new FinalizationRegistry<WeakRef<Log>>((child) => this.#children.delete(child));
  #log: Log | undefined;

  /** To be called for each child of the log. */
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

  /** `level` is one of pino's. */
  set(level: string): void {
    for (const log of [this.#log, ...[...this.#children].map((child) => child.deref())]) if (log) log.level = level;
  }
}
