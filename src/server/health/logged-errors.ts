import type { LogEntry } from "../../shared/contract/worker-logs.js";
import type { LastError } from "../../shared/contract/worker-health.js";
import { parseError } from "./error-position.js";

/** Time in ms within which entries of the same source belong to the same error. */
const sameErrorMs = 1000;
/** An error of the code explains errors of other sources, such as the response with status 500, within this time. */
const explainsMs = 10_000;
/** Sources of errors in order of precedence: output of the code, messages of the daemon, requests. */
const precedence = ["app", "runtime", "request"] as const;

interface LoggedError {
  readonly timeMs: number;
  readonly error: LastError;
}

/** The fields of a log entry that the last error contains. `time` is Unix time in milliseconds. */
type ErrorEntry = Pick<LogEntry, "time" | "source" | "text">;

/** The last error of each source in the log of one worker version. */
export class LoggedErrors {
  readonly #last: Partial<Record<LogEntry["source"], LoggedError>> = {};

  /** Records an entry of the level `error`. */
  note({ time, source, text }: ErrorEntry): void {
    const before = this.#last[source];
    const isSame = before !== undefined && time - before.timeMs < sameErrorMs;
    // Bounds the cost of a worker that writes many errors.
    if (isSame && before.error.file !== undefined) return;
    const error = parseError(text, Math.floor(time / 1000));
    if (isSame && error.file === undefined) return;
    this.#last[source] = { timeMs: time, error };
  }

  /** Returns the newest error. An error of the code within the 10 s before it has precedence, because it has a position. */
  get newest(): LastError | undefined {
    const all = precedence.flatMap((source) => this.#last[source] ?? []);
    const newestMs = Math.max(...all.map(({ timeMs }) => timeMs));
    return all.find(({ timeMs }) => newestMs - timeMs < explainsMs)?.error;
  }
}
