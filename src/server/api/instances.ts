import { ApiError } from "../../shared/api-error.js";
import { list, type Instance } from "../../shared/contract/instances.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover } from "../../shared/namespace.js";
import type { ResourceHandlers } from "../http/handler.js";
import { askOthers, type KnownInstances, type OtherResponse } from "../instances/ask-others.js";
import type { RegisteredInstance } from "../instances/instance-registry.js";

interface InstanceHandlersOptions {
  readonly instances: KnownInstances;
  /** Returns the seconds since the replica last contained all changes. Undefined without a replica. */
  readonly lagSeconds: () => number | undefined;
  /** Returns the workers of all isolates, one entry per isolate. */
  readonly isolates: () => readonly { readonly worker: string }[];
  /** Returns the number of requests whose responses are not complete. Does not count GET and HEAD requests to the API. */
  readonly requestsInFlight: () => number;
}

export function createInstanceHandlers({
  instances,
  lagSeconds,
  isolates,
  requestsInFlight,
}: InstanceHandlersOptions): ResourceHandlers<"instances"> {
  const { registry } = instances;
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
      ...(isUnrestricted && { requestsInFlight: requestsInFlight() }),
    };
  };
  const setDraining = async (nameOrId: string, principal: Principal, isDraining: boolean) => {
    if (!principal.namespaces.includes("*")) throw restricted(principal);
    const { id, name, run } = registry.get(nameOrId);
    await registry.setDraining({ id, run }, isDraining);
    return { success: true as const, data: { name, id, draining: isDraining } };
  };
  return {
    list: async ({ query, principal, key }) => {
      if (query.instance === "self") return [describeOwn(principal)];
      const others = await askOthers(instances, {
        key,
        offered: { instances: { list } },
        call: ({ instances: { list: ask } }) => ask({ query: { instance: "self" } }),
      });
      return [describeOwn(principal), ...others.map(({ instance, response }) => describeOther(instance, response, principal))];
    },
    drain: ({ params: { instance }, principal }) => setDraining(instance, principal, true),
    undrain: ({ params: { instance }, principal }) => setDraining(instance, principal, false),
  };
}

/** Returns the list entry of another daemon, from the response of that daemon or from the reason why it did not respond. */
function describeOther(
  { name, id, url, version }: RegisteredInstance,
  response: OtherResponse<readonly Instance[]>,
  { namespaces }: Principal,
): Instance {
  const address = (namespaces.includes("*") ? url : undefined) ?? null;
  const base = { name, id, address, version, isSelf: false, lagSeconds: null, isolates: null };
  if (!("result" in response)) return { ...base, ...response };
  const [{ state, lagSeconds, isolates, requestsInFlight } = { ...base, state: "unreachable" as const, requestsInFlight: undefined }] =
    response.result;
  return { ...base, state, lagSeconds, isolates, ...(requestsInFlight !== undefined && { requestsInFlight }) };
}

function restricted({ name, namespaces }: Principal): ApiError {
  return new ApiError(
    "NAMESPACE_DENIED",
    `The key "${name}" is restricted to ${namespaces.join(", ")}, and a drain concerns all namespaces. Use a key for all namespaces.`,
  );
}
