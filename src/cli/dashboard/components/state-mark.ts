import { incidentStates } from "../../../shared/incidents.js";
import type { Instance } from "../../../shared/contract/instances.js";
import type { WorkerState } from "../../../shared/contract/worker-health.js";

/** The state of a version: the state of its worker if the version is active, else `enabled` or `disabled`. */
export type VersionState = WorkerState | "enabled";
/** A state that the dashboard shows with a mark. */
type MarkedState = VersionState | Instance["state"];

/** Symbol and terminal color of each state. The symbols differ in shape, so that a state is recognizable without color. */
const marks: Readonly<Record<MarkedState, readonly [symbol: string, color: string]>> = {
  ok: ["●", "green"],
  degraded: ["▲", "yellow"],
  failing: ["✕", "red"],
  backoff: ["◌", "red"],
  idle: ["–", "green"],
  disabled: ["○", "yellow"],
  enabled: [" ", "green"],
  ready: ["●", "green"],
  draining: ["◌", "yellow"],
  starting: ["–", "yellow"],
  unreachable: ["✕", "red"],
  gone: ["○", "yellow"],
};

/** The mark of a state that this version of runtimectl does not define. A newer daemon can send such a state. */
const unknownMark = ["?", "yellow"] as const;

/** Returns the symbol of a state, followed by its word, such as `✕ failing`. */
export function markedState(state: MarkedState): string {
  return `${markOf(state)[0]} ${state}`;
}

/** Returns the terminal color of a state. */
export function stateColor(state: MarkedState): string {
  return markOf(state)[1];
}

/**
 * Returns the position of a state in a list sorted by severity: 0 for the most severe state. All states without a problem have the same
 * position.
 */
export function severityOf(state: string): number {
  const index = (incidentStates as readonly string[]).indexOf(state);
  return index === -1 ? incidentStates.length : index;
}

function markOf(state: string): readonly [symbol: string, color: string] {
  return Object.hasOwn(marks, state) ? marks[state as MarkedState] : unknownMark;
}
