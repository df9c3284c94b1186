import { severityOf } from "../components/state-mark.js";
import type { WorkerRow } from "./worker-rows.js";

/** Orders of the list of workers, in the sequence in which the shortcut selects them. */
export const workerOrders = ["severity", "name", "rate", "memory"] as const;

export type WorkerOrder = (typeof workerOrders)[number];

/**
 * Returns the rows in the given order. Rows that are equal in this order are sorted by name. The orders `severity` and `name` keep the
 * versions of a worker together. The orders `rate` and `memory` start with the highest value.
 */
export function sortedRows(rows: readonly WorkerRow[], order: WorkerOrder): WorkerRow[] {
  const severities = new Map<string, number>();
  for (const { name, state } of rows) severities.set(name, Math.min(severities.get(name) ?? Infinity, severityOf(state)));
  const rankOf: Record<WorkerOrder, (row: WorkerRow) => number> = {
    severity: ({ name }) => severities.get(name) ?? 0,
    name: () => 0,
    rate: ({ metrics }) => -(metrics?.requests.perSecond ?? 0),
    memory: (row) => -(memoryOf(row) ?? 0),
  };
  const rank = rankOf[order];
  return rows.toSorted((one, other) => rank(one) - rank(other) || compareNames(one.name, other.name));
}

/** Returns the memory of all isolates of a version in bytes. Undefined if the version has not run. */
export function memoryOf({ metrics }: WorkerRow): number | undefined {
  return metrics && (metrics.memory.pssBytes ?? metrics.memory.rssBytes);
}

function compareNames(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
