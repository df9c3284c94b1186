// Uses zod/mini, which loads faster than zod, because scripts often run `runtimectl workers list`, which requests the health of workers.
import * as z from "zod/mini";
import { endpoint } from "./endpoint.js";

/** Health states of a worker, the most severe first. */
export const workerStates = ["failing", "backoff", "degraded", "ok", "idle", "disabled"] as const;
export type WorkerState = (typeof workerStates)[number];

const Timestamp = z.int().check(z.minimum(0), z.describe("Unix time in seconds"));

/**
 * The last error of a worker or a plugin. If the error contains a position in the source code, the fields `file`, `line` and `column`
 * contain this position.
 */
export const LastError = z.object({
  message: z.string().check(z.describe("First line of the error")),
  at: Timestamp,
  file: z.optional(z.string()).check(z.describe("Path in the package, or of the source file if there is a source map")),
  line: z.optional(z.int().check(z.minimum(1))),
  column: z.optional(z.int().check(z.minimum(1))),
});
export type LastError = z.output<typeof LastError>;

/** State of a worker on one of several daemons, or the reason why the state is missing. */
const DaemonWorkerHealth = z.object({
  name: z.string().check(z.describe("Name of the daemon")),
  id: z.string().check(z.describe("Id of the daemon")),
  problem: z.optional(z.string()).check(z.describe("Reason why the daemon gave no response; the fields below are then absent")),
  version: z.optional(z.nullable(z.string())),
  state: z.optional(z.enum(workerStates)),
  since: z.optional(Timestamp),
  reason: z.optional(z.string()),
  lastError: z.optional(LastError),
});

export const WorkerHealth = z.object({
  name: z.string(),
  version: z.nullable(z.string()).check(z.describe("The active version; null: no version is enabled")),
  state: z
    .enum(workerStates)
    .check(
      z.describe(
        "failing: it cannot start, or at least 25 % of the requests of the last minute failed; backoff: it crashed repeatedly, and the daemon delays its next start; degraded: it serves with a problem, see `reason`; idle: no request in the last minute; disabled: no version is active",
      ),
    ),
  since: Timestamp.check(z.describe("Unix time in seconds at which this state began")),
  isSinceStart: z
    .optional(z.boolean())
    .check(z.describe("True if the state began earlier, at an unknown time; `since` is then a start of the daemon")),
  reason: z.optional(z.string()).check(z.describe("One sentence about the cause; for failing, backoff and degraded")),
  lastError: z.optional(LastError).check(z.describe("The last error of the active version since the daemon started")),
  suspect: z
    .optional(
      z.object({
        version: z.string(),
        installedAt: z.optional(Timestamp),
        by: z.optional(z.string()).check(z.describe("Name of the key")),
      }),
    )
    .check(
      z.describe("The active version, if the problem began within 30 minutes after it became active and the data folder was not full"),
    ),
  rollbackTo: z
    .optional(z.string())
    .check(z.describe("The version that a rollback activates; absent if there is none, and while the data folder is full")),
  instance: z
    .optional(z.string())
    .check(z.describe("Name of the daemon with the most severe state, from which the fields above are; only with `instances`")),
  instances: z
    .optional(z.array(DaemonWorkerHealth))
    .check(
      z.describe(
        "The daemons that have the worker, and the daemons that gave no response. Absent without other daemons, and with `instance=self`",
      ),
    ),
});
export type WorkerHealth = z.output<typeof WorkerHealth>;

export const health = endpoint({
  method: "GET",
  path: "/workers/health",
  summary: "Return the state of each worker that the key can see, with the cause of a problem",
  access: "workers:read",
  asksInstances: true,
  query: z.object({
    instance: z
      .prefault(z.string().check(z.regex(/^[\w.-]{1,255}$/, "must be all, self, or the name or the id of a daemon")), "all")
      .check(
        z.describe(
          "`all`: the most severe state of each worker on all daemons with the same primary; `self`: on the daemon that responds; a name or id: on that daemon",
        ),
      ),
    worker: z.optional(z.string().check(z.minLength(1), z.maxLength(214))).check(z.describe("Only the worker with this name")),
  }),
  status: 200,
  result: z.array(WorkerHealth).check(z.describe("Sorted by name")),
  errors: ["INSTANCE_NOT_FOUND", "INSTANCE_UNAVAILABLE"],
});
