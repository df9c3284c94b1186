import * as z from "zod";
import { isPackageVersion } from "../package-name.js";
import { endpoint } from "./endpoint.js";
import { beforeQuery, beforeResult, noticeFlag } from "./entry-position.js";
import { followQuery } from "./follow-query.js";
import { entryInstance, instanceQuery, listedInstances } from "./instances.js";
import { sinceQuery, untilQuery } from "./time-query.js";
import { WorkerParams } from "./worker-params.js";

/** Levels of log entries, in increasing severity. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Sources of log entries. `app`: output and errors of the worker's code. `runtime`: messages of the daemon about the worker. `request`:
 * served requests.
 */
export const logSources = ["app", "runtime", "request"] as const;
export type LogSource = (typeof logSources)[number];

export const LoggedRequest = z.object({
  method: z.string(),
  path: z.string().describe("Path without its query, of at most 2,048 characters"),
  status: z.int().describe("499: the client disconnected before there was a status"),
  durationMs: z.number().describe("Milliseconds from the head of the request to the end of the response"),
  responseBytes: z.int().describe("Bytes of the body that the worker sent; 0 for an error of the daemon"),
  requestId: z.string().describe("The X-Request-Id of the response"),
  client: z.string().describe("IP address of the TCP connection, which behind a proxy is that of the proxy; `cron` for a cron job"),
  forwardedFor: z.string().optional().describe("X-Forwarded-For header, which any client can send"),
});
export type LoggedRequest = z.output<typeof LoggedRequest>;

export const LogEntry = z.object({
  id: z.int().describe("Grows with every entry of a daemon, also across restarts"),
  time: z.int().describe("Unix time in milliseconds"),
  worker: z.string().describe("Name of the worker"),
  version: z.string().describe("Version of the worker"),
  level: z.enum(logLevels),
  source: z
    .enum(logSources)
    .describe(
      "`app`: output and errors of the worker's code; `runtime`: messages of the daemon about the worker; `request`: a served request",
    ),
  text: z.string().describe("One or more lines"),
  request: LoggedRequest.optional().describe("Only with the source `request`"),
  isNotice: noticeFlag,
  instance: entryInstance,
});
export type LogEntry = z.output<typeof LogEntry>;

const LogQuery = z.object({
  level: z.enum(logLevels).optional().describe("Only entries of this level and above"),
  text: z.string().min(1).max(200).optional().describe("Only entries that contain this text (not case-sensitive)"),
  source: z.enum(logSources).optional().describe("Only entries of this source"),
  status: z
    .string()
    .regex(/^[1-5](?:xx|\d\d)$/, "must be a status such as 404, or a class such as 5xx")
    .optional()
    .describe("Only requests with this status, such as `404`, or class, such as `5xx`"),
  requestId: z.string().min(1).max(200).optional().describe("Only the request with this id"),
  ...sinceQuery,
  ...untilQuery,
  ...beforeQuery,
  ...instanceQuery,
  ...followQuery,
  limit: z.coerce
    .number<number>()
    .int()
    .min(1)
    .max(10_000)
    .default(1000)
    .describe("Maximum number of entries: returns the newest ones, in the order oldest first"),
});

/** Filter for entries of a worker's log. */
export interface LogFilter {
  readonly version?: string | undefined;
  /** Selects entries of this level and of more severe levels. */
  readonly level?: LogLevel | undefined;
  readonly source?: LogSource | undefined;
  /** Selects requests whose response has this status, such as `404`, or a status of this class, such as `5xx`. */
  readonly status?: string | undefined;
  /** Selects the entry of the request with this request id. */
  readonly requestId?: string | undefined;
  /**
   * Selects entries that contain this text in upper or lower case. The text is not a regular expression, because matching an expression
   * could take unlimited time.
   */
  readonly text?: string | undefined;
  /** Selects entries since this time, in Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  /** Selects entries before this time, in Unix milliseconds. */
  readonly untilMs?: number | undefined;
  /** Selects entries with an id lower than this id. */
  readonly before?: number | undefined;
  /** Maximum number of selected entries. If more entries match, the newest are selected. */
  readonly limit: number;
}

const LogEntries = z.object({
  entries: z.array(LogEntry),
  hasMore: z.boolean().describe("Whether older entries match, or a daemon that runs did not respond"),
  before: beforeResult,
  instances: listedInstances,
});

export const logs = endpoint({
  method: "GET",
  path: "/workers/:scope/:name/logs",
  summary: "Read or stream the log of a worker",
  access: "workers:read",
  asksInstances: true,
  namespaced: true,
  params: WorkerParams,
  query: LogQuery.extend({
    version: z.string().refine(isPackageVersion, "neither strict semver nor latest").optional().describe("Only entries of this version"),
  }),
  inputErrors: { name: "INVALID_PACKAGE_NAME", version: "INVALID_PACKAGE_VERSION" },
  status: 200,
  result: LogEntries,
  events: LogEntry,
  errors: ["WORKER_NOT_FOUND", "WORKER_VERSION_NOT_FOUND", "INSTANCE_NOT_FOUND", "INSTANCE_UNAVAILABLE"],
});

/** Maximum length of the comma-separated list of workers in a query, in characters. */
const maxWorkerListLength = 4096;

export const list = endpoint({
  method: "GET",
  path: "/logs",
  summary: "Read or stream the logs of several workers, ordered by time",
  access: "workers:read",
  asksInstances: true,
  query: LogQuery.extend({
    worker: z
      .string()
      .min(1)
      .max(maxWorkerListLength)
      .transform((text) => text.split(","))
      .optional()
      .describe("Names of workers, separated by commas; without it, all workers in the namespaces of the key"),
  }),
  status: 200,
  result: LogEntries,
  events: LogEntry,
  errors: ["WORKER_NOT_FOUND", "NAMESPACE_DENIED", "INSTANCE_NOT_FOUND", "INSTANCE_UNAVAILABLE"],
});
