import { CronRun } from "../../shared/contract/cron.js";
import type { Lease } from "../storage/lease-store.js";
import type { JobHistory } from "./cron-runs.js";
import { parseDetail } from "./cron-slots.js";

/** JSON that a daemon stores in a lease at the end of the run. */
const StoredEnd = CronRun.pick({ at: true, durationMs: true, status: true, outcome: true, error: true }).partial();

/**
 * Returns the runs of a job, newest first: the scheduled runs of all daemons from `leases`, and the manual runs of this daemon from
 * `history`.
 */
export function mergeRuns(leases: readonly Lease[], history: JobHistory): { runs: CronRun[]; isRunning: boolean } {
  const manual = history.runs.filter(({ trigger }) => trigger === "manual");
  const runs = [...leases.flatMap(runOf), ...manual].toSorted((one, other) => other.at - one.at);
  return { runs, isRunning: history.isRunning || leases.some(({ state }) => state === "taken") };
}

/** Returns the run that a lease records. Returns an empty list while the run is in progress. */
function runOf({ state, slotMs, instance, detail, result }: Lease): CronRun[] {
  if (state === "taken") return [];
  const stored = (result === undefined ? undefined : StoredEnd.safeParse(JSON.parse(result)).data) ?? {};
  const { at = Math.floor(slotMs / 1000), durationMs = null, status = null, outcome = "failed", error } = stored;
  const version = parseDetail(detail)?.version;
  const common = { at, trigger: "schedule" as const, ...(version !== undefined && { version }), instance };
  if (state === "ran") return [{ ...common, durationMs, status, outcome, ...(error !== undefined && { error }) }];
  const reason = state === "unknown" ? `${instance} stopped during the run or before it.` : (error ?? skippedReason);
  return [{ ...common, durationMs: null, status: null, outcome: state, error: reason }];
}

const skippedReason = "The previous run had not finished, or no daemon could run the job at this time.";
