import type { Instance } from "../../../shared/contract/instances.js";
import { StateDot, type HealthState } from "../../components/state-dot.js";

/** All states of a daemon, in the order of the state filter. */
export const instanceStates = ["ready", "draining", "starting", "unreachable", "gone"] as const satisfies readonly Instance["state"][];

const looks = new Map<string, HealthState>(
  Object.entries({
    ready: "ok",
    draining: "backoff",
    starting: "idle",
    unreachable: "failing",
    gone: "disabled",
  } satisfies Record<Instance["state"], HealthState>),
);

/** Shows the state of a daemon as a symbol and a word. */
export function InstanceState({ state }: Pick<Instance, "state">) {
  return <StateDot state={looks.get(state) ?? "degraded"}>{state}</StateDot>;
}
