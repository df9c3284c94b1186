/** After the primary is back the daemons find out within this time; a write that is refused until then is explained. */
const noticeMs = 5_000;

/** What happened: how calls ended, how long changes took to be seen by the other daemons, when the primary was away, what went wrong. */
export class Record {
  problems = [];
  /** By what was asked for, by how it ended, how often. */
  outcomes = {};
  /** By kind of change, times in ms until the other daemons had it. */
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

  /** Whether the primary was away, or only just back, at any time since then. */
  wasAwaySince(fromMs) {
    return this.awayPeriods.some(({ toMs }) => toMs + noticeMs >= fromMs);
  }

  count(title, outcome, times = 1) {
    const outcomes = (this.outcomes[title] ??= {});
    outcomes[outcome] = (outcomes[outcome] ?? 0) + times;
  }

  /** An answer of a daemon; a 5xx has to be explained by the primary being away. */
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
