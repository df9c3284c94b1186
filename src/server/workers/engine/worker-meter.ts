import type { ErrorCode } from "../../../shared/errors.js";
import { LatencyHistogram } from "./latency-histogram.js";

/** What is counted about one version of a worker. Everything on the path of a request is a plain number. */
export class WorkerMeter {
  readonly name: string;
  /** Undefined for requests to a worker of which no version answers. */
  readonly version: string | undefined;
  readonly latency = new LatencyHistogram(performance.now());
  /** Requests that began; those that ended are in the counts by status. */
  beganCount = 0;
  requestBodyBytes = 0;
  responseBodyBytes = 0;
  /** By first digit of the status; 0 = the client left before there was one. */
  readonly #statusCounts = new Float64Array(6);
  readonly #errors = new Map<ErrorCode, number>();

  constructor(name: string, version: string | undefined) {
    this.name = name;
    this.version = version;
  }

  /**
   * Counts the end of a request that began; `status` is 0 when its client left before it had one. `isBrokenOff`: the response began
   * and never ended, by no fault of the client.
   */
  note(status: number, durationMs: number, nowMs: number, isBrokenOff = false): void {
    (this.#statusCounts[(status / 100) | 0] as number) += 1;
    this.latency.record(durationMs, nowMs, isBrokenOff || status >= 500);
  }

  /** Notes why a request failed, besides its end. */
  noteError(code: ErrorCode): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
  }

  /** Notes a request that is refused on the spot. */
  noteRefusal(status: number, code: ErrorCode): void {
    this.beganCount += 1;
    this.noteError(code);
    this.note(status, 0, performance.now());
  }

  get endedCount(): number {
    return this.#statusCounts.reduce((sum, count) => sum + count, 0);
  }

  get inFlightCount(): number {
    return this.beganCount - this.endedCount;
  }

  /** Requests that ended with a status of this first digit; 0 = the client left before there was one. */
  countOf(digit: 0 | 1 | 2 | 3 | 4 | 5): number {
    return this.#statusCounts[digit] as number;
  }

  get errors(): ReadonlyMap<ErrorCode, number> {
    return this.#errors;
  }
}
