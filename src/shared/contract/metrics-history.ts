import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { entryInstance, instanceQuery, listedInstances } from "./instances.js";
import { Timestamp } from "./principal.js";

/**
 * Ranges of the metrics history, with the length of a range and of one interval in seconds. The history of a single worker has intervals of
 * at least 60 s.
 */
export const historyRanges = {
  "1h": { seconds: 3600, stepSeconds: 10 },
  "24h": { seconds: 86_400, stepSeconds: 60 },
  "14d": { seconds: 1_209_600, stepSeconds: 900 },
} as const;
export type HistoryRange = keyof typeof historyRanges;
/** Number of minutes that a sparkline shows. */
export const sparklineMinutes = 60;

const Counts = z.array(z.int().min(0));
const Durations = z.array(z.number().min(0).nullable());

const HistoryMarker = z.object({
  at: Timestamp,
  type: z.enum(["deploy", "restart", "start"]).describe("deploy: another version became active; start: the daemon started"),
  worker: z.string().optional().describe("Only in the history of the daemon"),
  version: z.string().optional().describe("The version that became active; absent if no version did"),
  by: z.string().optional().describe("Name of the key that made the change, if known"),
  instance: entryInstance,
});
export type HistoryMarker = z.output<typeof HistoryMarker>;

export const MetricsHistory = z.object({
  stepSeconds: z.union([z.literal(10), z.literal(60), z.literal(900)]),
  points: z
    .object({
      at: z.array(Timestamp).describe("End of each interval; intervals in which the daemon did not run are missing"),
      requests: Counts.describe("Completed requests"),
      failed: Counts.describe("Completed requests with a status of 500 or more, or with an incomplete response"),
      p50Ms: Durations.describe("null without requests"),
      p99Ms: Durations.describe("null without requests"),
      memoryBytes: Counts.describe("Of all isolates, at the end; of 900 s: the maximum. For the daemon: including its own process"),
      cpuSeconds: z.array(z.number().min(0)).describe("CPU time within the interval, of the same processes"),
      isolates: Counts.describe("Isolates that have loaded a worker, at the end; of 900 s: the maximum"),
      incomplete: z
        .array(z.boolean())
        .optional()
        .describe("True if the values of a daemon that ran are missing in the interval, so the sums are too low; only with `instances`"),
    })
    .describe(
      "Lists of equal length, oldest first. Of several daemons: the sums of the values; percentiles cannot be added, so each is the highest one of a daemon",
    ),
  markers: z.array(HistoryMarker).describe("Oldest first; the same change on several daemons within 60 s is one marker"),
  instances: listedInstances,
});
export type MetricsHistory = z.output<typeof MetricsHistory>;

export const Sparkline = z.object({
  name: z.string(),
  requests: Counts.describe("Completed requests in each of the last 60 complete minutes, oldest first"),
  failed: Counts.describe("Failed ones of them"),
  isIncomplete: z.boolean().optional().describe("True if a daemon that runs gave no response, so the numbers are too low"),
});
export type Sparkline = z.output<typeof Sparkline>;

export const history = endpoint({
  method: "GET",
  path: "/metrics/history",
  summary: "Return the metrics of a worker, or of whole daemons, over the last 1 h, 24 h or 14 d",
  access: "workers:read",
  asksInstances: true,
  query: z.object({
    ...instanceQuery,
    worker: z.string().max(214).optional().describe("Absent: whole daemons, for keys without namespace restriction"),
    range: z.enum(["1h", "24h", "14d"]).default("24h"),
  }),
  status: 200,
  result: MetricsHistory,
  errors: ["NAMESPACE_DENIED", "WORKER_NOT_FOUND", "INSTANCE_NOT_FOUND", "INSTANCE_UNAVAILABLE"],
});

export const sparklines = endpoint({
  method: "GET",
  path: "/metrics/sparklines",
  summary: "Return the requests of the last 60 minutes of each worker that had some and that the key can see",
  access: "workers:read",
  asksInstances: true,
  query: z.object(instanceQuery),
  status: 200,
  result: z.array(Sparkline).describe("Sorted by name"),
  errors: ["INSTANCE_NOT_FOUND", "INSTANCE_UNAVAILABLE"],
});
