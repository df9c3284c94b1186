import * as z from "zod";
import { isPackageVersion } from "../package-name.js";
import { endpoint } from "./endpoint.js";
import { followQuery } from "./follow-query.js";
import { sinceQuery, untilQuery } from "./time-query.js";
import { WorkerParams } from "./worker-params.js";

/** From the least to the most urgent. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export const LogEntry = z.object({
  id: z.int().describe("Grows with every entry, also across restarts of the daemon"),
  time: z.int().describe("Unix time in milliseconds"),
  version: z.string().describe("Version of the worker that it is about"),
  level: z.enum(logLevels),
  source: z
    .enum(["app", "runtime"])
    .describe("`app`: what the worker's code wrote or threw; `runtime`: what the daemon has to say about it"),
  text: z.string().describe("One or more lines"),
});
export type LogEntry = z.output<typeof LogEntry>;

const LogQuery = z.object({
  version: z.string().refine(isPackageVersion, "neither strict semver nor latest").optional().describe("Entries of this version only"),
  level: z.enum(logLevels).optional().describe("Entries of this level and above"),
  text: z.string().min(1).max(200).optional().describe("Entries that contain this text, in upper or lower case"),
  ...sinceQuery,
  ...untilQuery,
  before: z.coerce.number<number>().int().min(0).optional().describe("Entries with a lower id: the way to older ones"),
  ...followQuery,
  limit: z.coerce.number<number>().int().min(1).max(10_000).default(1000).describe("The newest that many, answered oldest first"),
});

/** Which entries of a worker's log are meant. */
export interface LogFilter {
  readonly version?: string | undefined;
  /** This level and above. */
  readonly level?: LogLevel | undefined;
  /** Contained in the entry, in upper or lower case. Plain text: a pattern could take for ever. */
  readonly text?: string | undefined;
  /** Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  /** Unix milliseconds; entries before it. */
  readonly untilMs?: number | undefined;
  /** Entries with a lower id only. */
  readonly before?: number | undefined;
  /** The newest that many. */
  readonly limit: number;
}

export const logs = endpoint({
  method: "GET",
  path: "/workers/:scope/:name/logs",
  summary: "Read what a worker wrote, or follow it",
  access: "workers:read",
  namespaced: true,
  params: WorkerParams,
  query: LogQuery,
  inputErrors: { name: "INVALID_PACKAGE_NAME", version: "INVALID_PACKAGE_VERSION" },
  status: 200,
  result: z.object({
    entries: z.array(LogEntry),
    hasMore: z.boolean().describe("Older entries fit the query too; ask again with `before` = the first id"),
  }),
  events: LogEntry,
  errors: ["WORKER_NOT_FOUND", "WORKER_VERSION_NOT_FOUND"],
});
