/** Metrics of one interval of a worker or of the daemon. */
export interface MetricRow {
  /** Number of the interval: the Unix time of its end in seconds, divided by the length of an interval. */
  readonly slot: number;
  readonly requests: number;
  readonly failed: number;
  /** Percentiles of request durations. NaN if the interval has no requests. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Memory at the end of the interval, in units of 1024 bytes. */
  readonly memoryKilobytes: number;
  readonly cpuSeconds: number;
  readonly isolates: number;
}

/** `combineRows` takes `p99Ms` as the duration of this share of a row's requests, and `p50Ms` as the duration of the other requests. */
const slowShare = 0.02;

/**
 * Combines several rows into one row, such as the rows of 15 minutes. Adds counts and CPU time, and takes the maximum of memory and
 * isolates. Percentiles are estimates, because rows do not contain single durations.
 */
export function combineRows(slot: number, rows: readonly MetricRow[]): MetricRow {
  const sum = (valueOf: (row: MetricRow) => number): number => rows.reduce((total, row) => total + valueOf(row), 0);
  const most = (valueOf: (row: MetricRow) => number): number => rows.reduce((maximum, row) => Math.max(maximum, valueOf(row)), 0);
  const busy = rows.filter(({ requests }) => requests > 0);
  const only = busy.length === 1 ? busy[0] : undefined;
  return {
    slot,
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    p50Ms: only?.p50Ms ?? estimate(busy, 0.5),
    p99Ms: only?.p99Ms ?? estimate(busy, 0.99),
    memoryKilobytes: most(({ memoryKilobytes }) => memoryKilobytes),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    isolates: most(({ isolates }) => isolates),
  };
}

function estimate(rows: readonly MetricRow[], share: number): number {
  const durations = rows
    .flatMap(({ requests, p50Ms, p99Ms }) => [
      { ms: p50Ms, weight: requests * (1 - slowShare) },
      { ms: p99Ms, weight: requests * slowShare },
    ])
    .toSorted((one, other) => one.ms - other.ms);
  const rank = share * durations.reduce((total, { weight }) => total + weight, 0);
  let seen = 0;
  for (const { ms, weight } of durations) {
    seen += weight;
    if (seen >= rank) return ms;
  }
  return durations.at(-1)?.ms ?? Number.NaN;
}
