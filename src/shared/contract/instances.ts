import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { successOf } from "./success.js";

/** A daemon that shares a primary with others, or the only daemon. */
export const Instance = z.object({
  name: z.string().describe("RUNTIME_INSTANCE_NAME, or the host name; not always unique"),
  id: z.string().describe("Random id that stays the same after a restart; `local` without a primary"),
  address: z.string().nullable().describe("RUNTIME_INSTANCE_URL; null if it is not set, and for a key that is restricted to namespaces"),
  version: z.string(),
  isSelf: z.boolean().describe("True for the daemon that responds"),
  state: z
    .enum(["ready", "draining", "starting", "unreachable", "gone"])
    .describe(
      "draining: an operator drains it; unreachable: it runs, but gives no usable response; gone: it has sent no heartbeat for 30 s",
    ),
  lagSeconds: z
    .number()
    .min(0)
    .nullable()
    .describe("Seconds since its replica last contained all changes; null without a replica, without a response, and for a restricted key"),
  isolates: z.int().min(0).nullable().describe("Number of isolates that the key can see; null without a response"),
  requestsInFlight: z
    .int()
    .min(0)
    .optional()
    .describe(
      "Number of requests without a complete response, without reads of the API, event streams and WebSockets; absent without a response, and for a restricted key",
    ),
  problem: z
    .string()
    .optional()
    .describe(
      "Reason for the state, or why a ready or draining daemon serves with restrictions, in sentences; of a responding daemon only for keys of all namespaces",
    ),
});
export type Instance = z.output<typeof Instance>;

/** Number of other daemons that receive a signal, such as a restart. */
export const Notified = z.object({
  notified: z.int().min(0).describe("Number of other daemons that do the same within RUNTIME_AUTH_DB_SYNC_INTERVAL"),
  problem: z.string().optional().describe("Reason as a sentence why no other daemon does the same"),
});
export type Notified = z.output<typeof Notified>;

/** The query parameter `instance` of operations that collect entries from all daemons with the same primary. */
export const instanceQuery = {
  instance: z
    .string()
    .regex(/^[\w.-]{1,255}$/, "must be all, self, or the name or the id of a daemon")
    .default("all")
    .describe("`all`: all daemons with the same primary; `self`: the daemon that responds; a name or id: that daemon"),
};

/** Name of the daemon of an entry. Absent without other daemons, and with `instance=self`. */
export const entryInstance = z
  .string()
  .optional()
  .describe("Name of the daemon, or its id if several have the name; absent without other daemons, and with `instance=self`");

/** The daemons of a list. `problem` is the reason why the entries of a daemon are missing. */
export const listedInstances = z
  .array(z.object({ name: z.string(), id: z.string(), problem: z.string().optional() }))
  .optional()
  .describe(
    "The daemons that were asked; `problem` is the reason why the entries of a daemon are missing. Absent without other daemons, and with `instance=self`",
  );

const InstanceParams = z.object({
  instance: z
    .string()
    .regex(/^[\w.-]{1,255}$/, "must be the name or the id of a daemon")
    .describe("Name or id of a daemon"),
});

const DrainedInstance = successOf(z.object({ name: z.string(), id: z.string(), draining: z.boolean() }));

export const list = endpoint({
  method: "GET",
  path: "/instances",
  summary: "List the daemons with the same primary, with their states; without a primary only this daemon",
  access: "workers:read",
  asksInstances: true,
  query: z.object({ instance: z.enum(["self"]).optional().describe("`self`: only the daemon that responds") }),
  status: 200,
  result: z.array(Instance),
});

export const drain = endpoint({
  method: "POST",
  path: "/instances/:instance/drain",
  summary: "Let a daemon report that it is not ready and take no cron jobs, until its next start; it still serves",
  change: "instance.drained",
  access: "workers:restart",
  params: InstanceParams,
  status: 200,
  result: DrainedInstance,
  errors: ["NAMESPACE_DENIED", "INSTANCE_NOT_FOUND", "KEY_STORE_UNAVAILABLE", "INSUFFICIENT_STORAGE"],
});

export const undrain = endpoint({
  ...drain,
  path: "/instances/:instance/undrain",
  summary: "End the drain of a daemon",
  change: "instance.undrained",
});
