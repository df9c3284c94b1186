import type { Client } from "../../../shared/client.js";
import type { Instance } from "../../../shared/contract/instances.js";
import type { Action } from "./action.js";

/** A daemon, with what decides about its drain. */
export interface InstanceTarget {
  readonly instance: Instance;
  /** Number of other daemons that are ready. */
  readonly readyOthers: number;
  /** Namespaces of the API key if the key is restricted to them. */
  readonly restrictedTo?: readonly string[] | undefined;
}

/** Starts the drain of a daemon, or ends it. */
export const toggleDrain: Action<InstanceTarget> = {
  id: "instances.drain",
  line: ({ instance: { name, state } }) => `runtimectl instances drain ${name}${state === "draining" ? " --undo" : ""}`,
  permission: "workers:restart",
  refusal: ({ instance: { name, state }, restrictedTo }) =>
    restrictedTo
      ? `your key is restricted to ${restrictedTo.join(", ")}, and a drain concerns all namespaces`
      : state === "gone"
        ? `${name} is gone`
        : undefined,
  confirmation: ({ instance: { name, state }, readyOthers }) =>
    state === "draining"
      ? undefined
      : {
          consequence:
            `Drain ${name}: it reports that it is not ready and takes no cron jobs, until its next start` +
            (readyOthers === 0 ? "; no other instance is ready" : ""),
          ...(readyOthers === 0 && { name }),
        },
  run: (client, { instance }) => setDraining(client, instance, instance.state !== "draining"),
  undo: (client, { instance }) => setDraining(client, instance, instance.state === "draining"),
};

async function setDraining(client: Client, { id }: Instance, isDraining: boolean): Promise<string> {
  const { data } = await client.instances[isDraining ? "drain" : "undrain"]({ params: { instance: id } });
  return isDraining ? `${data.name} reports that it is not ready, and still serves` : `the drain of ${data.name} has ended`;
}
