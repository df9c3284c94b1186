import { ApiError } from "../../shared/api-error.js";
import { list, type Instance } from "../../shared/contract/instances.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover } from "../../shared/namespace.js";
import type { ResourceHandlers } from "../http/handler.js";
import type { InstanceClient } from "../instances/instance-client.js";
import type { InstanceRegistry, RegisteredInstance } from "../instances/instance-registry.js";

interface InstanceHandlersOptions {
  readonly registry: InstanceRegistry;
  readonly client: InstanceClient;
  /** Returns the seconds since the replica last contained all changes. Undefined without a replica. */
  readonly lagSeconds: () => number | undefined;
  /** Returns the workers of all isolates, one entry per isolate. */
  readonly isolates: () => readonly { readonly worker: string }[];
}

export function createInstanceHandlers({ registry, client, lagSeconds, isolates }: InstanceHandlersOptions): ResourceHandlers<"instances"> {
  const describeOwn = ({ namespaces }: Principal): Instance => {
    const { name, id, url, version } = registry.own;
    const isUnrestricted = namespaces.includes("*");
    return {
      name,
      id,
      address: (isUnrestricted ? url : undefined) ?? null,
      version,
      isSelf: true,
      state: registry.isDraining ? "draining" : "ready",
      lagSeconds: (isUnrestricted ? lagSeconds() : undefined) ?? null,
      isolates: isolates().filter(({ worker }) => namespacesCover(namespaces, worker)).length,
    };
  };
  const describeOther = async (
    instance: RegisteredInstance,
    isLive: boolean,
    { namespaces }: Principal,
    key: string,
  ): Promise<Instance> => {
    const { name, id, url, version } = instance;
    const address = (namespaces.includes("*") ? url : undefined) ?? null;
    const base = { name, id, address, version, isSelf: false, lagSeconds: null, isolates: null };
    if (!isLive) return { ...base, state: "gone", problem: "It has sent no heartbeat for 30 s." };
    const answer = await client.ask(instance, {
      key,
      offered: { instances: { list } },
      call: ({ instances }) => instances.list({ query: { instance: "self" } }),
    });
    if (!("result" in answer)) return { ...base, ...answer };
    const [own] = answer.result;
    return own
      ? { ...own, ...base, state: own.state, lagSeconds: own.lagSeconds, isolates: own.isolates }
      : { ...base, state: "unreachable" };
  };
  const setDraining = async (nameOrId: string, principal: Principal, isDraining: boolean) => {
    if (!principal.namespaces.includes("*")) throw restricted(principal);
    const [found, ...further] = registry.find(nameOrId);
    if (!found || further.length > 0) throw notFound(nameOrId, further.length > 0);
    await registry.setDraining(found, isDraining);
    return { success: true as const, data: { name: found.name, id: found.id, draining: isDraining } };
  };
  return {
    list: async ({ query, principal, key }) => {
      if (query.instance === "self") return [describeOwn(principal)];
      // Without the primary, the heartbeats are unknown. The daemons then show by their responses whether they run.
      const live = await registry.readLive().catch(() => registry.others());
      const liveIds = new Set(live.map(({ id }) => id));
      const others = await Promise.all(registry.others().map((one) => describeOther(one, liveIds.has(one.id), principal, key)));
      return [describeOwn(principal), ...others];
    },
    drain: ({ params: { instance }, principal }) => setDraining(instance, principal, true),
    undrain: ({ params: { instance }, principal }) => setDraining(instance, principal, false),
  };
}

function restricted({ name, namespaces }: Principal): ApiError {
  return new ApiError(
    "NAMESPACE_DENIED",
    `The key "${name}" is restricted to ${namespaces.join(", ")}, and a drain concerns all namespaces. Use a key for all namespaces.`,
  );
}

function notFound(nameOrId: string, isAmbiguous: boolean): ApiError {
  const reason = isAmbiguous ? "Several daemons have the name" : "No daemon has the name or id";
  return new ApiError("INSTANCE_NOT_FOUND", `${reason} ${JSON.stringify(nameOrId)}. List their ids with runtimectl instances list --json.`);
}
