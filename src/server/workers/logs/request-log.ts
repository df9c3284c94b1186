import type { LoggedRequest } from "../../../shared/contract/worker-logs.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import type { ServedVersion } from "../engine/version-handler.js";
import type { WorkerLogs } from "./worker-logs.js";

/** Maximum length of a path in the log, in characters. */
const maxPathLength = 2048;
/** Maximum length of an X-Forwarded-For header in the log, in characters. */
const maxForwardedLength = 200;
const forwardedForName = "x-forwarded-for";
/**
 * Maximum query length in characters. With a longer query, the logged path is copied, because a substring would keep the query in memory.
 */
const maxSharedQueryLength = 256;
/** Logged status of a request whose client disconnected before the response. nginx uses the same status. */
const clientClosedRequest = 499;

interface RequestEnd {
  /** HTTP status that was sent; 0 when the client disconnected before the response. */
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

  /** Writes a completed request, unless the manifest has `accessLog: false`. */
  write(exchange: WorkerExchange, end: RequestEnd): void {
    const { name, version, manifest } = this.#version;
    if (!manifest.accessLog) return;
    const request = loggedRequest(exchange, end);
    const { method, path, status, durationMs } = request;
    const text = `${method} ${path} ${status} ${durationMs} ms`;
    this.#logs.writeRequest({ name, version, level: status >= 500 ? "error" : "info", text, request });
  }
}

function loggedRequest({ request, requestId, address, cron }: WorkerExchange, end: RequestEnd): LoggedRequest {
  const forwardedFor = forwardedForOf(request.rawHeaders);
  const logged = {
    method: request.method ?? "",
    path: pathOf(address),
    status: end.status === 0 ? clientClosedRequest : end.status,
    durationMs: Math.round(end.durationMs * 100) / 100,
    responseBytes: end.responseBytes,
    requestId,
    client: cron === undefined ? (request.socket.remoteAddress ?? "") : "cron",
  };
  return forwardedFor === undefined ? logged : { ...logged, forwardedFor: copied(forwardedFor.slice(0, maxForwardedLength)) };
}

/** Returns the X-Forwarded-For header. Reads the raw headers, because `request.headers` would parse all headers. */
function forwardedForOf(rawHeaders: readonly string[]): string | undefined {
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === forwardedForName.length && rawHeaders[index]?.toLowerCase() === forwardedForName)
      return rawHeaders[index + 1];
  return undefined;
}

function pathOf({ base, path, query }: WorkerExchange["address"]): string {
  const whole = base + path;
  if (whole.length > maxPathLength) return `${copied(whole.slice(0, maxPathLength))}…`;
  return query.length > maxSharedQueryLength ? copied(whole) : whole;
}

/** Returns a copy, because a substring keeps the original string in memory. */
function copied(text: string): string {
  return Buffer.from(text).toString();
}
