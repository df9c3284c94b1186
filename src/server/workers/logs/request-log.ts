import type { LoggedRequest } from "../../../shared/contract/worker-logs.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import type { ServedVersion } from "../engine/version-handler.js";
import type { WorkerLogs } from "./worker-logs.js";

/** Maximum length in characters of a path in the log. Clients choose the path, and a long path would displace other entries. */
const maxPathLength = 2048;
/**
 * Maximum length in characters of an X-Forwarded-For header in the log. Clients choose the header, and a long header would displace other
 * entries.
 */
const maxForwardedLength = 200;
const forwardedForName = "x-forwarded-for";
/**
 * Maximum length in characters of a query. If the query is longer, the log stores a copy of the path, because a substring would keep the
 * whole target in memory.
 */
const maxSharedQueryLength = 256;
/** Status in the log if the client disconnected before the response. nginx writes the same status. */
const clientClosedRequest = 499;

/** Lowest status of a request that the log records with the level `error`. */
const leastFailure = 500;

interface RejectedRequest extends Pick<WorkerExchange, "request" | "requestId"> {
  /** Name of the plugin that rejected the request. */
  readonly plugin: string;
  readonly status: number;
  readonly durationMs: number;
}

interface RequestEnd {
  /** HTTP status that the client received. 0 if it disconnected before the response. */
  readonly status: number;
  readonly durationMs: number;
  readonly responseBytes: number;
}

/** Writes the requests of one version to its worker's log. */
export class RequestLog {
  readonly #logs: WorkerLogs;
  readonly #version: ServedVersion;

  constructor(logs: WorkerLogs, version: ServedVersion) {
    this.#logs = logs;
    this.#version = version;
  }

  /** Writes a request that a plugin rejected before the worker received it. Does nothing if the manifest has `accessLog: false`. */
  writeRejection({ request, requestId, plugin, status, durationMs }: RejectedRequest): void {
    const { name, version, manifest } = this.#version;
    if (!manifest.accessLog) return;
    const { url = "/" } = request;
    const queryStart = url.indexOf("?");
    const path = shortened(queryStart === -1 ? url : url.slice(0, queryStart));
    const logged = loggedRequest({ request, requestId, path, isCron: false }, { status, durationMs, responseBytes: 0 });
    const text = `${logged.method} ${path} ${status} ${logged.durationMs} ms, rejected by the plugin ${plugin}`;
    this.#logs.writeRequest({ name, version, level: status >= leastFailure ? "error" : "info", text, request: logged });
  }

  /** Writes a completed request. Does nothing if the manifest has `accessLog: false`. */
  write(exchange: WorkerExchange, end: RequestEnd): void {
    const { name, version, manifest } = this.#version;
    if (!manifest.accessLog) return;
    const { request: message, requestId, address, cron } = exchange;
    const request = loggedRequest({ request: message, requestId, path: pathOf(address), isCron: cron !== undefined }, end);
    const { method, path, status, durationMs } = request;
    const text = `${method} ${path} ${status} ${durationMs} ms`;
    this.#logs.writeRequest({ name, version, level: status >= leastFailure ? "error" : "info", text, request });
  }
}

interface Requested extends Pick<WorkerExchange, "request" | "requestId"> {
  readonly path: string;
  readonly isCron: boolean;
}

function loggedRequest({ request, requestId, path, isCron }: Requested, end: RequestEnd): LoggedRequest {
  const forwardedFor = forwardedForOf(request.rawHeaders);
  const logged = {
    method: request.method ?? "",
    path,
    status: end.status === 0 ? clientClosedRequest : end.status,
    durationMs: Math.round(end.durationMs * 100) / 100,
    responseBytes: end.responseBytes,
    requestId,
    client: isCron ? "cron" : (request.socket.remoteAddress ?? ""),
  };
  return forwardedFor === undefined ? logged : { ...logged, forwardedFor: copied(forwardedFor.slice(0, maxForwardedLength)) };
}

/** Returns the X-Forwarded-For header. Reads the raw headers, because `request.headers` parses all headers. */
function forwardedForOf(rawHeaders: readonly string[]): string | undefined {
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === forwardedForName.length && rawHeaders[index]?.toLowerCase() === forwardedForName)
      return rawHeaders[index + 1];
  return undefined;
}

function pathOf({ base, path, query }: WorkerExchange["address"]): string {
  const whole = base + path;
  return query.length > maxSharedQueryLength && whole.length <= maxPathLength ? copied(whole) : shortened(whole);
}

function shortened(path: string): string {
  return path.length > maxPathLength ? `${copied(path.slice(0, maxPathLength))}…` : path;
}

/** Returns a copy. A substring would keep the original text in memory. */
function copied(text: string): string {
  return Buffer.from(text).toString();
}
