/** Time in which the daemons detect that the primary is available again. A write that a daemon rejects in this time is not a problem. */
const noticeMs = 5_000;

/** Results of a run: outcomes of calls, delays of changes on the other daemons, times without the primary, and problems. */
export class Record {
  problems = [];
  /** Number of calls for each title and outcome. */
  outcomes = {};
  /** Times in milliseconds until all other daemons showed a change, by kind of change. */
  seenAfterMs = {};
  awayPeriods = [];
  explainedFailures = 0;
  #startedAtMs = performance.now();

  nowMs() {
    return performance.now() - this.#startedAtMs;
  }

  problem(text) {
    this.problems.push(`${(this.nowMs() / 1000).toFixed(1)} s: ${text}`);
  }

  primaryLeaves() {
    this.awayPeriods.push({ fromMs: this.nowMs(), toMs: Infinity });
  }

  primaryIsBack() {
    this.awayPeriods.at(-1).toMs = this.nowMs();
  }

  /** Whether the primary was unavailable at any time since `fromMs`, or had just become available again. */
  wasAwaySince(fromMs) {
    return this.awayPeriods.some(({ toMs }) => toMs + noticeMs >= fromMs);
  }

  count(title, outcome, times = 1) {
    const outcomes = (this.outcomes[title] ??= {});
    outcomes[outcome] = (outcomes[outcome] ?? 0) + times;
  }

  /** Records the response of a daemon. A 5xx is a problem, unless the primary was unavailable. */
  answered(title, { status, code, startedAtMs }) {
    this.count(title, code === undefined ? String(status) : `${status} ${code}`);
    if (status < 500) return;
    if (code === "KEY_STORE_UNAVAILABLE" && this.wasAwaySince(startedAtMs)) this.explainedFailures += 1;
    else this.problem(`${title}: ${status} ${code}`);
  }

  seen(kind, ms) {
    (this.seenAfterMs[kind] ??= []).push(ms);
  }
}
