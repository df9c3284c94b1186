import type { Client } from "../../../shared/client.js";
import type { Instance } from "../../../shared/contract/instances.js";
import { instanceLabel, isLastReady } from "../../../shared/instance-list.js";
import type { Action } from "./action.js";

/** A daemon, with the data that decides whether and with which confirmation the user can drain the daemon. */
export interface InstanceTarget {
  readonly instance: Instance;
  /** All daemons with the same primary. */
  readonly all: readonly Instance[];
  /** Namespaces of the API key if the key is restricted to them. */
  readonly restrictedTo?: readonly string[] | undefined;
}

/** Starts the drain of a daemon. If the daemon is already draining, ends the drain. */
export const toggleDrain: Action<InstanceTarget> = {
  id: "instances.drain",
  line: ({ instance, all }) =>
    `runtimectl instances drain ${instanceLabel(instance, all)}${instance.state === "draining" ? " --undo" : ""}`,
  permission: "workers:restart",
  refusal: ({ instance: { name, state }, restrictedTo }) =>
    restrictedTo
      ? `your key is restricted to ${restrictedTo.join(", ")}, and a drain concerns all namespaces`
      : state === "gone"
        ? `${name} is gone`
        : undefined,
  confirmation: ({ instance, all }) => {
    if (instance.state === "draining") return undefined;
    const { name } = instance;
    const consequence = `Drain ${name}: it reports that it is not ready and takes no cron jobs, until its next start`;
    return isLastReady(instance, all) ? { consequence: `${consequence}; no other instance is ready`, name } : { consequence };
  },
  run: (client, { instance }) => setDraining(client, instance, instance.state !== "draining"),
  undo: (client, { instance }) => setDraining(client, instance, instance.state === "draining"),
};

async function setDraining(client: Client, { id }: Instance, isDraining: boolean): Promise<string> {
  const { data } = await client.instances[isDraining ? "drain" : "undrain"]({ params: { instance: id } });
  return isDraining ? `${data.name} reports that it is not ready, and still serves` : `the drain of ${data.name} has ended`;
}
