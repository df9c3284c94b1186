import type { Instance } from "../../../shared/contract/instances.js";
import type { RowAction } from "../../components/row-actions.js";
import type { InstanceActions } from "./use-instance-actions.js";

/** Returns the possible actions for a daemon: start a drain, or end it. Returns no actions for a daemon with the state `gone`. */
export function instanceMenu(instance: Instance, actions: InstanceActions): readonly RowAction[] {
  const { isPending } = actions;
  if (instance.state === "gone") return [];
  return instance.state === "draining"
    ? [{ title: "End drain", icon: "play", isPending, run: () => actions.endDrain(instance) }]
    : [{ title: "Drain", icon: "pause", isPending, run: () => actions.drain(instance) }];
}
