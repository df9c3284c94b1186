import type { LogEntry } from "../../shared/contract/worker-logs.js";
import type { LastError } from "../../shared/contract/worker-health.js";
import { parseError } from "./error-position.js";

/** Log entries of one source belong to the same error if they follow each other within this time in ms. */
const sameErrorMs = 1000;
/**
 * Time in ms after an error of the worker's code. Errors of other sources in this time, such as a response with status 500, count as
 * consequences of this error.
 */
const explainsMs = 10_000;
/**
 * Sources of log entries in order of precedence. `app`: output of the worker's code. `runtime`: messages of the daemon. `request`: failed
 * requests.
 */
const precedence = ["app", "runtime", "request"] as const;

interface LoggedError {
  readonly timeMs: number;
  readonly error: LastError;
}

/** The fields of a log entry from which the last error is derived. `time` is Unix time in milliseconds. */
type ErrorEntry = Pick<LogEntry, "time" | "source" | "text">;

/** Keeps the last error of one worker version from each source of log entries. */
export class LoggedErrors {
  readonly #last: Partial<Record<LogEntry["source"], LoggedError>> = {};

  /** Records a log entry of the level `error`. */
  note({ time, source, text }: ErrorEntry): void {
    const before = this.#last[source];
    const isSame = before !== undefined && time - before.timeMs < sameErrorMs;
    // Does not parse further entries of an error with a known position. A worker that logs many errors therefore costs little time.
    if (isSame && before.error.file !== undefined) return;
    const error = parseError(text, Math.floor(time / 1000));
    if (isSame && error.file === undefined) return;
    this.#last[source] = { timeMs: time, error };
  }

  /** Returns the newest error. If a source with higher precedence logged an error in the 10 s before, returns that error instead. */
  get newest(): LastError | undefined {
    const all = precedence.flatMap((source) => this.#last[source] ?? []);
    const newestMs = Math.max(...all.map(({ timeMs }) => timeMs));
    return all.find(({ timeMs }) => newestMs - timeMs < explainsMs)?.error;
  }
}
