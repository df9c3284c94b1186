import { logLevels, logSources, type LogLevel, type LogSource } from "../../../shared/contract/worker-logs.js";
import { parsePastTimeMs } from "../../../shared/past-time.js";

/** Filters of the log. The query of the page's URL contains each filter under the same name. */
export interface LogQuery {
  readonly level?: LogLevel | undefined;
  readonly source?: LogSource | undefined;
  /** A class of HTTP status codes, such as `5xx`. */
  readonly status?: string | undefined;
  readonly version?: string | undefined;
  readonly text?: string | undefined;
  /** Start of the time range: a duration before now such as `15m`, or a Unix time in milliseconds. */
  readonly since?: string | undefined;
  /** End of the time range, as Unix time in milliseconds. */
  readonly until?: string | undefined;
  /** Name or id of the daemon that wrote the entries. Undefined for all daemons with the same primary. */
  readonly instance?: string | undefined;
  /** Name of the worker. Undefined for all workers. */
  readonly worker?: string | undefined;
}

/** Names of the filters in the query of the page's URL. On the page with the logs of all apps, `app` is the name of one worker. */
export const filterNames = ["text", "instance", "level", "source", "version", "app", "status", "since", "until"] as const;

const statusClass = /^[1-5]xx$/;
/** Matches the name or id of a daemon, as in the API. */
const instancePattern = /^[\w.-]{1,255}$/;

/** Reads the filters from the query of a URL. Ignores invalid values. */
export function readLogQuery(search: URLSearchParams): Omit<LogQuery, "worker" | "version"> {
  const value = (name: (typeof filterNames)[number]) => search.get(name) ?? "";
  const time = (name: "since" | "until") => (parsePastTimeMs(value(name), Date.now()) === undefined ? undefined : value(name));
  const status = value("status");
  const instance = value("instance");
  return {
    instance: instancePattern.test(instance) ? instance : undefined,
    level: logLevels.find((level) => level === value("level")),
    source: logSources.find((source) => source === value("source")),
    status: statusClass.test(status) ? status : undefined,
    since: time("since"),
    until: time("until"),
  };
}

export const levelChoices = [
  { value: "", label: "All levels" },
  { value: "info", label: "Info and above" },
  { value: "warn", label: "Warn and above" },
  { value: "error", label: "Errors" },
];

export const sourceChoices = [
  { value: "", label: "All sources" },
  { value: "app", label: "Console" },
  { value: "request", label: "Requests" },
  { value: "runtime", label: "Daemon" },
];

export const statusChoices = [
  { value: "", label: "Any status" },
  ...["2xx", "3xx", "4xx", "5xx"].map((status) => ({ value: status, label: status })),
];

const times = [
  { value: "", label: "All time" },
  { value: "15m", label: "Last 15 min" },
  { value: "1h", label: "Last hour" },
  { value: "24h", label: "Last 24 h" },
  { value: "7d", label: "Last 7 days" },
];

/** Returns the choices of the time range. Adds the range that the user selected in the histogram. */
export function timeChoices({ since, until }: LogQuery): { readonly value: string; readonly label: string }[] {
  if (since === undefined || times.some(({ value }) => value === since && until === undefined)) return times;
  return [...times, { value: since, label: until === undefined ? `Since ${timeText(since)}` : `${timeText(since)}–${timeText(until)}` }];
}

/** A time range in Unix milliseconds. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

/** Returns the chosen time range at the time `nowMs`. Undefined if `since` is not set or invalid. */
export function timeRangeOf({ since, until }: Pick<LogQuery, "since" | "until">, nowMs: number): TimeRange | undefined {
  const startMs = since === undefined ? undefined : parsePastTimeMs(since, nowMs);
  const endMs = until === undefined ? undefined : parsePastTimeMs(until, nowMs);
  return startMs === undefined ? undefined : { startMs, endMs: endMs ?? nowMs };
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function timeText(time: string): string {
  const atMs = parsePastTimeMs(time, Date.now());
  return atMs === undefined ? time : clock.format(atMs);
}
