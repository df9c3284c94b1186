import { ApiError } from "../../shared/api-error.js";
import type { Operations } from "../../shared/client.js";
import type { InstanceAnswer, InstanceClient, InstanceQuestion } from "./instance-client.js";
import type { InstanceRegistry, RegisteredInstance } from "./instance-registry.js";

/** The daemons with the same primary. */
export interface KnownInstances {
  readonly registry: InstanceRegistry;
  readonly client: InstanceClient;
}

/** Result of a daemon, or the reason why the daemon returned no result. `gone`: the daemon has sent no heartbeat for 30 s. */
export type OtherAnswer<Result> = InstanceAnswer<Result> | { readonly state: "gone"; readonly problem: string };

const gone = { state: "gone", problem: "It has sent no heartbeat for 30 s." } as const;

/** Asks all other daemons at the same time. Daemons without a recent heartbeat are not asked. */
export async function askOthers<Offered extends Operations, Result>(
  { registry, client }: KnownInstances,
  question: InstanceQuestion<Offered, Result>,
): Promise<{ instance: RegisteredInstance; answer: OtherAnswer<Result> }[]> {
  const others = registry.others();
  const live = new Set((await registry.readLive()).map(({ id }) => id));
  return Promise.all(
    others.map(async (instance) => ({ instance, answer: live.has(instance.id) ? await client.ask(instance, question) : gone })),
  );
}

/**
 * Asks the daemon with a name or id, unless it has sent no heartbeat for 30 s. Resolves with undefined if it is this daemon. Throws
 * INSTANCE_NOT_FOUND or INSTANCE_UNAVAILABLE (503).
 */
export async function askInstance<Offered extends Operations, Result>(
  { registry, client }: KnownInstances,
  nameOrId: string,
  question: InstanceQuestion<Offered, Result>,
): Promise<{ instance: RegisteredInstance; result: Result } | undefined> {
  const instance = registry.get(nameOrId);
  if (instance.id === registry.own.id) return undefined;
  const isLive = (await registry.readLive()).some(({ id }) => id === instance.id);
  const answer = isLive ? await client.ask(instance, question) : gone;
  if ("result" in answer) return { instance, result: answer.result };
  throw new ApiError("INSTANCE_UNAVAILABLE", `The daemon ${instance.name} gives no usable response. ${answer.problem}`);
}
