import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { Timestamp } from "./principal.js";

/** The states of a worker, the most severe first. */
export const workerStates = ["failing", "backoff", "degraded", "ok", "idle", "disabled"] as const;
export type WorkerState = (typeof workerStates)[number];

/** The last error of a worker or a plugin, with the position in its source code if the error contains one. */
export const LastError = z.object({
  message: z.string().describe("First line of the error"),
  at: Timestamp,
  file: z.string().optional().describe("Path in the package, or of the source file if there is a source map"),
  line: z.int().min(1).optional(),
  column: z.int().min(1).optional(),
});
export type LastError = z.output<typeof LastError>;

export const WorkerHealth = z.object({
  name: z.string(),
  version: z.string().nullable().describe("The active version; null: no version is enabled"),
  state: z
    .enum(workerStates)
    .describe(
      "failing: it cannot start, or at least 25 % of the requests of the last minute failed; backoff: it crashed repeatedly, and the daemon delays its next start; degraded: it serves with a problem, see `reason`; idle: no request in the last minute; disabled: no version is active",
    ),
  since: Timestamp.describe("Unix time in seconds at which this state began"),
  reason: z.string().optional().describe("One sentence about the cause; for failing, backoff and degraded"),
  lastError: LastError.optional().describe("The last error of the active version since the daemon started"),
  suspect: z
    .object({ version: z.string(), installedAt: Timestamp.optional(), by: z.string().optional().describe("Name of the key") })
    .optional()
    .describe("The active version, if the problem began within 30 minutes after it became active"),
  rollbackTo: z.string().optional().describe("The version that a rollback activates; absent if there is none"),
});
export type WorkerHealth = z.output<typeof WorkerHealth>;

export const health = endpoint({
  method: "GET",
  path: "/workers/health",
  summary: "Return the state of each worker that the key can see, with the cause of a problem",
  access: "workers:read",
  query: z.object({ worker: z.string().min(1).max(214).optional().describe("Only the worker with this name") }),
  status: 200,
  result: z.array(WorkerHealth).describe("Sorted by name"),
});
