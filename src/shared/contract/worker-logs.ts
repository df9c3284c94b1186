import * as z from "zod";
import { isPackageVersion } from "../package-name.js";
import { endpoint } from "./endpoint.js";
import { followQuery } from "./follow-query.js";
import { sinceQuery, untilQuery } from "./time-query.js";
import { WorkerParams } from "./worker-params.js";

/** In increasing severity. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export const LogEntry = z.object({
  id: z.int().describe("Grows with every entry, also across restarts of the daemon"),
  time: z.int().describe("Unix time in milliseconds"),
  version: z.string().describe("Version of the worker"),
  level: z.enum(logLevels),
  source: z
    .enum(["app", "runtime"])
    .describe("`app`: output and errors of the worker's code; `runtime`: messages of the daemon about the worker"),
  text: z.string().describe("One or more lines"),
});
export type LogEntry = z.output<typeof LogEntry>;

const LogQuery = z.object({
  version: z.string().refine(isPackageVersion, "neither strict semver nor latest").optional().describe("Only entries of this version"),
  level: z.enum(logLevels).optional().describe("Only entries of this level and above"),
  text: z.string().min(1).max(200).optional().describe("Only entries that contain this text (not case-sensitive)"),
  ...sinceQuery,
  ...untilQuery,
  before: z.coerce.number<number>().int().min(0).optional().describe("Only entries with a lower id, to read older entries"),
  ...followQuery,
  limit: z.coerce
    .number<number>()
    .int()
    .min(1)
    .max(10_000)
    .default(1000)
    .describe("Maximum number of entries: returns the newest ones, in the order oldest first"),
});

/** Selects entries of a worker's log. */
export interface LogFilter {
  readonly version?: string | undefined;
  /** This level and above. */
  readonly level?: LogLevel | undefined;
  /** Text in the entry, case-insensitive. Plain text: a regular expression could take unlimited time. */
  readonly text?: string | undefined;
  /** Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  /** Unix milliseconds: only entries before this time. */
  readonly untilMs?: number | undefined;
  /** Only entries with a lower id. */
  readonly before?: number | undefined;
  /** Maximum number of entries, the newest first. */
  readonly limit: number;
}

export const logs = endpoint({
  method: "GET",
  path: "/workers/:scope/:name/logs",
  summary: "Read or stream the log of a worker",
  access: "workers:read",
  namespaced: true,
  params: WorkerParams,
  query: LogQuery,
  inputErrors: { name: "INVALID_PACKAGE_NAME", version: "INVALID_PACKAGE_VERSION" },
  status: 200,
  result: z.object({
    entries: z.array(LogEntry),
    hasMore: z.boolean().describe("Whether older entries match; to read them, set `before` to the first id"),
  }),
  events: LogEntry,
  errors: ["WORKER_NOT_FOUND", "WORKER_VERSION_NOT_FOUND"],
});
