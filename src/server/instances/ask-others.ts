import { ApiError } from "../../shared/api-error.js";
import type { Operations } from "../../shared/client.js";
import { namesOf } from "./entry-position.js";
import type { InstanceResponse, InstanceClient, InstanceRequest } from "./instance-client.js";
import type { InstanceRegistry, RegisteredInstance } from "./instance-registry.js";

/** The daemons with the same primary, and the client that sends requests to these daemons. */
export interface KnownInstances {
  readonly registry: InstanceRegistry;
  readonly client: InstanceClient;
}

/** Result of a daemon, or the reason why the daemon returned no result. `gone`: the daemon has sent no heartbeat for 30 s. */
export type OtherResponse<Result> = InstanceResponse<Result> | { readonly state: "gone"; readonly problem: string };

/** A daemon of a list, with its result or with the reason why its result is missing. */
export interface ListedResponse<Result> {
  /** `name` is unique. If several daemons have the same name, `name` contains the id of the daemon. */
  readonly instance: { readonly name: string; readonly id: string };
  readonly response: { readonly result: Result } | { readonly problem: string; readonly state?: "starting" | "unreachable" | "gone" };
}

interface CollectOptions<Offered extends Operations, Result> {
  readonly request: InstanceRequest<Offered, Result>;
  readonly readOwn: () => Result | Promise<Result>;
}

const gone = { state: "gone", problem: "It was stopped, or has sent no heartbeat for 30 s." } as const;

/** Returns whether a request concerns other daemons. Returns false for `self`, and for `all` while no other daemon is registered. */
export function asksOthers({ registry }: KnownInstances, wanted: string): boolean {
  return wanted !== "self" && (wanted !== "all" || registry.others().length > 0);
}

/**
 * Sends a request to all other daemons at the same time. For a daemon without a recent heartbeat, sends nothing and returns the state
 * `gone`.
 */
export async function askOthers<Offered extends Operations, Result>(
  { registry, client }: KnownInstances,
  request: InstanceRequest<Offered, Result>,
): Promise<{ instance: RegisteredInstance; response: OtherResponse<Result> }[]> {
  const others = registry.others();
  if (others.length === 0) return [];
  const live = new Set((await registry.readLive({ maximumAgeMs: 0 })).map(({ id }) => id));
  return Promise.all(
    others.map(async (instance) => ({ instance, response: live.has(instance.id) ? await client.ask(instance, request) : gone })),
  );
}

/**
 * Sends a request to the daemon with this name or id. Resolves with undefined if this is the own name or id. Throws INSTANCE_NOT_FOUND, or
 * INSTANCE_UNAVAILABLE (503), for example if the daemon has sent no heartbeat for 30 s.
 */
export async function askInstance<Offered extends Operations, Result>(
  { registry, client }: KnownInstances,
  nameOrId: string,
  request: InstanceRequest<Offered, Result>,
): Promise<{ instance: RegisteredInstance; result: Result } | undefined> {
  const instance = registry.get(nameOrId);
  if (instance.id === registry.own.id) return undefined;
  const isLive = (await registry.readLive({ maximumAgeMs: 0 })).some(({ id }) => id === instance.id);
  const response = isLive ? await client.ask(instance, request) : gone;
  if ("result" in response) return { instance, result: response.result };
  throw new ApiError("INSTANCE_UNAVAILABLE", `The daemon ${instance.name} gives no usable response. ${response.problem}`);
}

/**
 * Returns the results of the daemons that `wanted` selects: `all`, or the name or id of one daemon. Throws INSTANCE_NOT_FOUND. Throws
 * INSTANCE_UNAVAILABLE (503) if only one daemon is selected and returns no result.
 */
export async function collectResponses<Offered extends Operations, Result>(
  instances: KnownInstances,
  wanted: string,
  { request, readOwn }: CollectOptions<Offered, Result>,
): Promise<readonly ListedResponse<Result>[]> {
  const { registry } = instances;
  const other = wanted === "all" ? undefined : await askInstance(instances, wanted, request);
  if (other) return [{ instance: listed(registry, other.instance), response: other }];
  const [own, others] = await Promise.all([readOwn(), wanted === "all" ? askOthers(instances, request) : []]);
  return [
    { instance: listed(registry, registry.own), response: { result: own } },
    ...others.map(({ instance, response }) => ({ instance: listed(registry, instance), response })),
  ];
}

function listed(registry: InstanceRegistry, { id, name }: Pick<RegisteredInstance, "id" | "name">): { id: string; name: string } {
  return { id, name: namesOf(registry).get(id) ?? name };
}

/** Returns the results of all daemons that returned a result. */
export function resultsOf<Result>(responses: readonly ListedResponse<Result>[]): Result[] {
  return responses.flatMap(({ response }) => ("result" in response ? [response.result] : []));
}

/** Returns whether an error means that the daemon has no such worker or version. */
export function isMissingWorker(error: unknown): boolean {
  return error instanceof ApiError && (error.code === "WORKER_NOT_FOUND" || error.code === "WORKER_VERSION_NOT_FOUND");
}

/** Returns the name of the first running daemon that returned no result, and the reason. */
export function missingOf(responses: readonly ListedResponse<unknown>[]): { readonly name: string; readonly problem: string } | undefined {
  return responses.flatMap(({ instance: { name }, response }) =>
    "problem" in response && response.state !== "gone" ? [{ name, problem: response.problem }] : [],
  )[0];
}

/** Returns the field `instances` of a list: the requested daemons. If entries of a daemon are missing, `problem` contains the reason. */
export function toListedInstances(responses: readonly ListedResponse<unknown>[]): { name: string; id: string; problem?: string }[] {
  return responses.map(({ instance: { name, id }, response }) => ({
    name,
    id,
    ...("problem" in response && { problem: response.problem }),
  }));
}
