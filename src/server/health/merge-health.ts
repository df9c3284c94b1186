import { workerStates, type WorkerHealth } from "../../shared/contract/worker-health.js";

/** Health of all workers on one daemon, or the reason why the health is missing. The name in `instance` is unique. */
export interface DaemonHealth {
  readonly instance: { readonly name: string; readonly id: string };
  readonly response: { readonly result: readonly WorkerHealth[] } | { readonly problem: string };
}

type DaemonWorkerHealth = NonNullable<WorkerHealth["instances"]>[number];

interface Finding {
  readonly instance: DaemonHealth["instance"];
  readonly health: WorkerHealth;
}

/**
 * Returns one entry per worker with the most severe state of all daemons, sorted by name. If several daemons have this state, the entry
 * describes the daemon whose state began first. Each entry also lists the daemons without a response.
 */
export function mergeHealth(daemons: readonly DaemonHealth[]): WorkerHealth[] {
  const missing = daemons.flatMap(({ instance, response }): DaemonWorkerHealth[] =>
    "problem" in response ? [{ ...instanceOf(instance), problem: response.problem }] : [],
  );
  const found = daemons.flatMap(({ instance, response }) =>
    "result" in response ? response.result.map((health): Finding => ({ instance, health })) : [],
  );
  return [...Map.groupBy(found, ({ health }) => health.name)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, ofWorker]) => {
      const [worst, ...others] = ofWorker.toSorted(bySeverity);
      if (!worst) return [];
      const lastError = worst.health.lastError ?? newestError(others);
      return [
        {
          ...worst.health,
          ...(lastError && { lastError }),
          instance: worst.instance.name,
          instances: [...ofWorker.map(toDaemonHealth), ...missing],
        },
      ];
    });
}

function toDaemonHealth({ instance, health: { version, state, since, reason, lastError } }: Finding): DaemonWorkerHealth {
  return { ...instanceOf(instance), version, state, since, ...(reason !== undefined && { reason }), ...(lastError && { lastError }) };
}

function instanceOf({ name, id }: DaemonHealth["instance"]): { name: string; id: string } {
  return { name, id };
}

/** Puts the most severe state first, then the state that began first. The id makes the order the same on all daemons. */
function bySeverity(one: Finding, other: Finding): number {
  return (
    severityOf(one.health) - severityOf(other.health) ||
    one.health.since - other.health.since ||
    (one.instance.id < other.instance.id ? -1 : 1)
  );
}

/** Returns 0 for the most severe state. An unknown state, which only a newer version of the daemon has, is the least severe. */
function severityOf({ state }: WorkerHealth): number {
  const position = workerStates.indexOf(state);
  return position === -1 ? workerStates.length : position;
}

function newestError(findings: readonly Finding[]): WorkerHealth["lastError"] {
  return findings.flatMap(({ health: { lastError } }) => lastError ?? []).toSorted((one, other) => other.at - one.at)[0];
}
