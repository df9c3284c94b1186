import * as z from "zod";
import type { Permission } from "../permissions.js";
import { ChangePrincipal, ChangeSubject, changeTypes, nounOf, typeListOf } from "./changes.js";
import { endpoint } from "./endpoint.js";
import { noticeFlag } from "./entry-position.js";
import { entryInstance, instanceQuery } from "./instances.js";
import { sinceQuery } from "./time-query.js";
import { workerStates } from "./worker-health.js";

/** All event types. They cover changes through the API, state changes of workers and plugins, and the event stream itself. */
export const eventTypes = [
  ...changeTypes,
  "worker.answering",
  "worker.crashed",
  "worker.start-failed",
  "worker.backoff",
  "worker.data-full",
  "worker.health",
  "plugin.health",
  "index.diverged",
  "stream.opened",
  "stream.gap",
] as const;
/** Current name of each event type that had an earlier name. A query accepts earlier names until version 0.3. */
const earlierTypes = { "worker.left-alone": "worker.backoff" };
export type EventType = (typeof eventTypes)[number];

export const RuntimeEvent = z.object({
  id: z.int().describe("Grows with every event of a daemon, also across restarts"),
  type: z.enum(eventTypes),
  at: z.int().describe("Unix time in milliseconds"),
  principal: ChangePrincipal.optional().describe("The key that caused the event; absent for events without a request"),
  requestId: z.string().optional().describe("Id of the request that caused the event"),
  subject: ChangeSubject.optional(),
  state: z.enum(workerStates).optional().describe("The new state; only for `worker.health` and `plugin.health`"),
  message: z.string().optional().describe("Further description of the event"),
  isRepeat: z
    .boolean()
    .optional()
    .describe("True if the daemon repeats a change that another daemon made; a stream of several daemons omits such events"),
  isNotice: noticeFlag,
  instance: entryInstance,
});
export type RuntimeEvent = z.output<typeof RuntimeEvent>;

const readPermissions = {
  worker: "workers:read",
  plugin: "plugins:read",
  host: "workers:read",
  secret: "workers:read",
  key: "keys:read",
  instance: "workers:read",
  session: "keys:read",
  index: "keys:read",
} as const;

/**
 * Returns the permission that a key needs to receive an event. Returns undefined for events of the stream itself, such as `stream.opened`.
 */
export function permissionToSee(type: EventType): Permission | undefined {
  const noun = nounOf(type);
  return noun === "stream" ? undefined : readPermissions[noun];
}

export const stream = endpoint({
  method: "GET",
  path: "/events",
  summary: "Stream changes and worker crashes that the key is allowed to see",
  access: "authenticated",
  asksInstances: true,
  query: z.object({
    type: typeListOf(eventTypes, earlierTypes).describe("Only these types, separated by commas; `worker` means all of `worker.*`"),
    worker: z.string().min(1).max(214).optional().describe("Only events of the worker with this name"),
    ...sinceQuery,
    ...instanceQuery,
  }),
  status: 200,
  events: RuntimeEvent,
  errors: ["INSTANCE_NOT_FOUND", "INSTANCE_UNAVAILABLE"],
});
