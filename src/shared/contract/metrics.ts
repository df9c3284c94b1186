import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { Timestamp } from "./principal.js";

const Count = z.int().min(0);
const Bytes = z.number().min(0);
const Milliseconds = z.number().min(0).nullable().describe("null when there was no request");

const Latency = z.object({ count: Count, p50Ms: Milliseconds, p90Ms: Milliseconds, p99Ms: Milliseconds, maximumMs: Milliseconds });

const Requests = z.object({
  total: Count.describe("Requests that ended, since the daemon started"),
  perSecond: z.number().min(0).describe("Over the last minute or so"),
  failed: Count.describe("Of all that ended: answered with a status of 500 or more, the worker's own included, or broken off"),
  failedPerSecond: z.number().min(0).describe("Over the last minute or so"),
  inFlight: Count,
  queued: Count.describe("Of those in flight the ones that wait for an isolate"),
  byStatus: z
    .object({ "1xx": Count, "2xx": Count, "3xx": Count, "4xx": Count, "5xx": Count, aborted: Count })
    .describe("aborted: the client left before there was a status"),
});
const Errors = z
  .object({ total: Count, byCode: z.record(z.string(), Count).describe("By error code") })
  .describe("Requests that the daemon answered with an error of its own, also those that the client caused");
const Isolates = z.object({ running: Count, starting: Count, draining: Count });
const Memory = z.object({ rssBytes: Bytes, pssBytes: Bytes.nullable().describe("null where the system does not tell") });

const activity = {
  requests: Requests,
  errors: Errors,
  isolates: Isolates,
  memory: Memory.describe("Of all its isolates"),
  cpuSeconds: z.number().min(0).describe("Of its isolates, as far as they were looked at before they ended"),
  requestBodyBytes: Bytes,
  responseBodyBytes: Bytes,
  openSockets: Count.describe("Web sockets that are open"),
};

export const WorkerMetrics = z.object({
  name: z.string(),
  version: z.string().nullable().describe("null: requests to a worker of which no version answers"),
  kind: z.enum(["static", "module"]).nullable(),
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
    .describe("How late timers were, over the last minute or so"),
  process: z
    .object({
      rssBytes: Bytes,
      heapUsedBytes: Bytes,
      heapTotalBytes: Bytes,
      externalBytes: Bytes,
      cpuSeconds: z.number(),
      handles: Count.describe("Sockets, timers, child processes and the like that are open"),
      connections: Count.describe("Clients that are connected"),
    })
    .optional()
    .describe("Like the parts below, only for keys that are not restricted to namespaces"),
  isolatePool: z
    .object({ size: Count, used: Count, starting: Count, blank: Count, waiting: Count.describe("Starts that wait for a place") })
    .optional(),
  uploads: z.object({ running: Count, installed: Count, failed: Count }).optional(),
  keyStore: z
    .object({
      keys: Count.describe("That are not revoked"),
      isUsable: z.boolean().describe("Whether it can be written"),
      replica: z
        .object({
          lagSeconds: z.number().min(0).nullable().describe("Since it was last known to have all that the primary has; null: it never was"),
          failedSyncs: Count.describe("Attempts to ask the primary or to fetch from it that failed"),
          renewals: Count.describe("How often it was thrown away and fetched again"),
        })
        .optional()
        .describe("The copy of the primary's keys, with RUNTIME_AUTH_DB_MODE=sync"),
    })
    .optional(),
  events: z.object({ published: Count, followers: Count.describe("Streams that are open") }).optional(),
  auditLog: z
    .object({
      written: Count,
      skipped: Count.describe("Attempts beyond what is written of them, and entries that the disk never took"),
      waiting: Count.describe("Entries in memory, until the disk takes them"),
    })
    .optional(),
  unknownPathRequests: Count.optional().describe("Requests whose path means no installed worker"),
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
  summary: "Return the numbers of the workers that the key may see and of the daemon, for Prometheus",
  access: "workers:read",
  status: 200,
  contentType: "text/plain; version=0.0.4; charset=utf-8",
});

export const show = endpoint({
  method: "GET",
  path: "/metrics.json",
  summary: "Return the same numbers as JSON, with percentiles and rates of the last minute",
  access: "workers:read",
  query: z.object({
    worker: z.string().max(214).optional().describe("Only the worker of this name"),
    detail: z.enum(["workers", "totals"]).default("workers").describe("totals: without a row for each worker"),
  }),
  status: 200,
  result: z.object({
    daemon: DaemonMetrics,
    totals: Totals.describe("Of all these workers but the control panel"),
    workers: z.array(WorkerMetrics).describe("Versions that were asked for something since the daemon started, by name"),
    plugins: z
      .array(PluginMetrics)
      .optional()
      .describe(
        "What plugins count; only for keys that are not restricted to namespaces, and when neither one worker nor totals are asked for",
      ),
  }),
});
