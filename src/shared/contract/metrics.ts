import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { instanceQuery } from "./instances.js";
import { Timestamp } from "./principal.js";

const Count = z.int().min(0);
const Bytes = z.number().min(0);
const Milliseconds = z.number().min(0).nullable().describe("null without requests");

const Latency = z
  .object({ count: Count, p50Ms: Milliseconds, p90Ms: Milliseconds, p99Ms: Milliseconds, maximumMs: Milliseconds })
  .describe("Of several daemons: percentiles cannot be added, so each is the highest one of a daemon");

const Requests = z.object({
  total: Count.describe("Completed requests since the daemon started"),
  perSecond: z.number().min(0).describe("Over about the last minute"),
  failed: Count.describe("Completed requests with a status of 500 or more, including the worker's own, or with an incomplete response"),
  failedPerSecond: z.number().min(0).describe("Over about the last minute"),
  inFlight: Count,
  queued: Count.describe("Requests in flight that wait for an isolate"),
  byStatus: z
    .object({ "1xx": Count, "2xx": Count, "3xx": Count, "4xx": Count, "5xx": Count, aborted: Count })
    .describe("aborted: the client disconnected before the response started"),
});
const Errors = z
  .object({ total: Count, byCode: z.record(z.string(), Count).describe("By error code") })
  .describe("Requests to which the daemon responded with an error, including client errors");
const Isolates = z.object({ running: Count, starting: Count, draining: Count });
const Memory = z.object({ rssBytes: Bytes, pssBytes: Bytes.nullable().describe("null if the system does not provide it") });

const activity = {
  requests: Requests,
  errors: Errors,
  isolates: Isolates,
  memory: Memory.describe("Of all isolates"),
  cpuSeconds: z.number().min(0).describe("CPU time of the isolates up to their last measurement"),
  requestBodyBytes: Bytes,
  responseBodyBytes: Bytes,
  openSockets: Count.describe("Open WebSocket connections"),
};

export const WorkerMetrics = z.object({
  name: z.string(),
  version: z.string().nullable().describe("null: requests to a worker without an active version"),
  kind: z.enum(["static", "module"]).nullable(),
  memoryLimitBytes: Bytes.nullable().optional().describe("Memory limit of one isolate; null without isolates, such as of a static site"),
  ...activity,
  latency: z.object({ recent: Latency.extend({ windowSeconds: z.number() }), sinceStart: Latency }),
});
export type WorkerMetrics = z.output<typeof WorkerMetrics>;

const Totals = z.object(activity);
export type Totals = z.output<typeof Totals>;

export const DaemonMetrics = z.object({
  version: z.string(),
  startedAt: Timestamp,
  uptimeSeconds: z.number(),
  eventLoopLag: z
    .object({ p50Ms: z.number(), p99Ms: z.number(), maximumMs: z.number() })
    .describe("Delay of timers over about the last minute"),
  process: z
    .object({
      rssBytes: Bytes,
      heapUsedBytes: Bytes,
      heapTotalBytes: Bytes,
      externalBytes: Bytes,
      cpuSeconds: z.number(),
      handles: Count.describe("Open handles, such as sockets, timers and child processes"),
      connections: Count.describe("Connected clients"),
    })
    .optional()
    .describe("Only for keys without namespace restriction, like the properties below"),
  isolatePool: z
    .object({ size: Count, used: Count, starting: Count, blank: Count, waiting: Count.describe("Starts that wait for a free slot") })
    .optional(),
  uploads: z.object({ running: Count, installed: Count, failed: Count }).optional(),
  keyStore: z
    .object({
      keys: Count.describe("Keys that are not revoked"),
      isUsable: z.boolean().describe("Whether the key store is writable"),
      replica: z
        .object({
          lagSeconds: z.number().min(0).nullable().describe("Seconds since the last complete synchronization; null: never"),
          failedSyncs: Count.describe("Failed attempts to synchronize with the primary"),
          renewals: Count.describe("Number of times the replica was discarded and fetched again"),
        })
        .optional()
        .describe("The copy of the primary's keys, with RUNTIME_AUTH_DB_MODE=sync"),
    })
    .optional(),
  events: z.object({ published: Count, followers: Count.describe("Open streams") }).optional(),
  auditLog: z
    .object({
      written: Count,
      skipped: Count.describe("Entries that were not written"),
      waiting: Count.describe("Entries in memory, not yet written"),
    })
    .optional(),
  unknownPathRequests: Count.optional().describe("Requests whose path matches no installed worker"),
});
export type DaemonMetrics = z.output<typeof DaemonMetrics>;

export const PluginMetrics = z.object({
  plugin: z.string(),
  counters: z.array(
    z.object({
      name: z.string(),
      help: z.string(),
      values: z.array(z.object({ labels: z.record(z.string(), z.string()), value: z.number().min(0) })),
    }),
  ),
});
export type PluginMetrics = z.output<typeof PluginMetrics>;

export const text = endpoint({
  method: "GET",
  path: "/metrics",
  summary: "Return metrics of the daemon and of the workers that the key can see, in Prometheus format",
  access: "workers:read",
  status: 200,
  contentType: "text/plain; version=0.0.4; charset=utf-8",
});

export const show = endpoint({
  method: "GET",
  path: "/metrics.json",
  summary: "Return the same metrics as JSON, with percentiles and rates of the last minute",
  access: "workers:read",
  asksInstances: true,
  query: z.object({
    ...instanceQuery,
    worker: z.string().max(214).optional().describe("Only the worker with this name"),
    detail: z.enum(["workers", "totals"]).default("workers").describe("totals: without rows for workers"),
  }),
  status: 200,
  result: z.object({
    daemon: DaemonMetrics.describe("Of the daemon that responds, or of the one that `instance` names"),
    totals: Totals.describe("Of all these workers except the control panel"),
    workers: z
      .array(WorkerMetrics)
      .describe("Versions with requests since the daemon started, sorted by name; of several daemons: counts, rates and memory are sums"),
    plugins: z
      .array(PluginMetrics)
      .optional()
      .describe("Counters of plugins; only for keys without namespace restriction, and without `worker` and `detail=totals`"),
    instances: z
      .array(
        z.object({
          name: z.string(),
          id: z.string(),
          problem: z.string().optional().describe("Reason why the metrics of the daemon are missing"),
          daemon: DaemonMetrics.optional(),
          totals: Totals.optional(),
        }),
      )
      .optional()
      .describe("The daemons that were asked. Absent without other daemons, and with `instance=self`"),
  }),
  errors: ["INSTANCE_NOT_FOUND", "INSTANCE_UNAVAILABLE"],
});
export type ShownMetrics = z.output<typeof show.result>;
