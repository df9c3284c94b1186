import * as z from "zod";
import type { Permission } from "../permissions.js";
import { ChangePrincipal, ChangeSubject, changeTypes, nounOf, typeListOf } from "./changes.js";
import { endpoint } from "./endpoint.js";
import { sinceQuery } from "./time-query.js";

/** What the daemon tells besides changes: of workers by themselves, and of the stream. */
export const eventTypes = [
  ...changeTypes,
  "worker.answering",
  "worker.crashed",
  "worker.start-failed",
  "worker.left-alone",
  "stream.opened",
  "stream.gap",
] as const;
export type EventType = (typeof eventTypes)[number];

export const RuntimeEvent = z.object({
  id: z.int().describe("Grows with every event, also across restarts of the daemon"),
  type: z.enum(eventTypes),
  at: z.int().describe("Unix time in milliseconds"),
  principal: ChangePrincipal.optional().describe("Who did it; absent when nobody did"),
  requestId: z.string().optional().describe("Of the call that did it"),
  subject: ChangeSubject.optional(),
  message: z.string().optional().describe("What happened, in words, where the type does not say it all"),
});
export type RuntimeEvent = z.output<typeof RuntimeEvent>;

const readPermissions = {
  worker: "workers:read",
  plugin: "plugins:read",
  host: "workers:read",
  key: "keys:read",
  session: "keys:read",
} as const;

/** The permission that a reader needs to be told; undefined for what concerns every stream. */
export function permissionToSee(type: EventType): Permission | undefined {
  const noun = nounOf(type);
  return noun === "stream" ? undefined : readPermissions[noun];
}

export const stream = endpoint({
  method: "GET",
  path: "/events",
  summary: "Follow what happens: changes with who made them, and workers that crash; each as far as the key may see it",
  access: "authenticated",
  query: z.object({
    type: typeListOf(eventTypes).describe("These types only, separated by commas; `worker` stands for all of `worker.*`"),
    worker: z.string().min(1).max(214).optional().describe("Only what concerns the worker of this name"),
    ...sinceQuery,
  }),
  status: 200,
  events: RuntimeEvent,
});
