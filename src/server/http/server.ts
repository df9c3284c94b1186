import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError } from "../../shared/api-error.js";
import type { ErrorCode } from "../../shared/errors.js";
import { isHost } from "../../shared/host.js";
import { sendError, errorHeaders } from "../web/error-response.js";
import type { HostTarget, HttpExchange } from "../web/http-exchange.js";
import type { AllowedHosts } from "../web/allowed-hosts.js";
import { responseInFlight, watchStalledClients } from "./connections.js";
import { sendContinue, leftoverBodyTimeoutMs, keepOpenForBody } from "./request-body.js";
import { requestIdOf } from "./request-id.js";
import { isHandshake, takeUpgrades } from "./upgrades.js";

const defaultHeadersTimeoutMs = 20_000;
/** Interval in ms at which Node.js checks for requests and headers that exceed their time limits. The default of Node.js is 30 s. */
const connectionsCheckingIntervalMs = 5_000;
/** Time limit in ms for receiving a complete request. In 15 min, a client can upload 100 MB at 1 Mbit/s. */
const requestTimeoutMs = 15 * 60_000;
/**
 * Idle time in ms after which the daemon closes a connection. Common proxies close earlier, so they send no request on a closing
 * connection. Clients receive this time in whole seconds and close up to 1 s earlier.
 */
const keepAliveTimeoutMs = 75_999;
const brokenRequests: Readonly<Record<string, BrokenRequest>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "INVALID_REQUEST", "The request's headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "INVALID_REQUEST", "The request did not arrive in time."],
};
const notHttp: BrokenRequest = [400, "Bad Request", "INVALID_REQUEST", "The request is not valid HTTP."];

export interface HttpServerOptions {
  readonly apiBase: string;
  /** Host names that the server accepts. If undefined, the server accepts every host name. */
  readonly allowedHosts?: AllowedHosts | undefined;
  /** Handles requests at or below the API base and below `/.well-known/`. */
  readonly api: (request: IncomingMessage, response: ServerResponse) => unknown;
  /** Returns the worker for a Host header. Returns undefined for host names of the daemon itself. */
  readonly hostTargetOf?: (host: string | undefined) => HostTarget | undefined;
  /** Serves all other requests with the panel, a plugin or a worker. */
  readonly serve: (exchange: HttpExchange) => void;
  /** Time limit for a client to send the headers of a request. */
  readonly headersTimeoutMs?: number;
  /** Time without a transferred byte after which the server closes a connection. */
  readonly stalledClientTimeoutMs?: number;
}

/** Creates the HTTP server, which passes each request to the API or to the workers. Requests to workers never enter Koa. */
export function createHttpServer({
  apiBase,
  allowedHosts,
  api,
  hostTargetOf = () => undefined,
  serve,
  headersTimeoutMs = defaultHeadersTimeoutMs,
  stalledClientTimeoutMs = 60_000,
}: HttpServerOptions): Server {
  const isApi = (path: string) => isApiPath(apiBase, path);
  const isSoundHost = createHostCheck();
  const problemOf = (request: IncomingMessage, hostTarget: HostTarget | undefined) => {
    const { host } = request.headers;
    const problem = problemOfHead(request);
    // Skips the check of allowed host names for a host name of a worker, because the daemon accepts every host name that belongs to a
    // worker.
    if (problem || hostTarget) return problem;
    return isSoundHost(host)
      ? problemOfHost(host, allowedHosts)
      : new ApiError("INVALID_REQUEST", "The Host header must be a host name with an optional port.");
  };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const hostTarget = hostTargetOf(request.headers.host);
    const problem = problemOf(request, hostTarget);
    if (problem) {
      refuse(request, response, problem);
      return;
    }
    const target = originForm(request);
    if (!hostTarget && isApi(target)) void api(request, response);
    else {
      sendContinue(request, response);
      keepOpenForBody(request, response);
      serve({ request, response, requestId: requestIdOf(request), hostTarget });
    }
  };
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: connectionsCheckingIntervalMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      // Disables the check of Node.js for a missing Host header, because the error response of Node.js has no body.
      requireHostHeader: false,
      shouldUpgradeCallback: (request) =>
        isHandshake(request) && (hostTargetOf(request.headers.host) !== undefined || !isApi(pathOf(request))),
    },
    handle,
  );
  // Handles `checkContinue`, so that the daemon sends "100 Continue" only for requests that it accepts.
  server.on("checkContinue", handle);
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
    refuse(
      request,
      response,
      new ApiError("EXPECTATION_FAILED", "The request has an unsupported Expect header. Only 100-continue is supported."),
    ),
  );
  server.on("connect", (_request: IncomingMessage, socket: Duplex) =>
    endWith(socket, [400, "Bad Request", "INVALID_REQUEST", "CONNECT is not supported: the daemon is not a proxy."]),
  );
  watchStalledClients(server, stalledClientTimeoutMs);
  takeUpgrades(server, {
    stalledClientTimeoutMs,
    handle: (request, response, connection) => {
      const hostTarget = hostTargetOf(request.headers.host);
      const problem = problemOf(request, hostTarget);
      if (problem) return refuse(request, response, problem);
      originForm(request);
      serve({ request, response, requestId: requestIdOf(request), connection, hostTarget });
    },
  });
  server.on("clientError", sendBrokenRequest);
  server.on("timeout", endStalledConnection);
  return server;
}

/**
 * Returns a function that checks the syntax of a Host header. Accepts an empty header, which clients send for a target without a host name
 * (RFC 9112, section 3.2).
 */
function createHostCheck(): (host: string | undefined) => boolean {
  // The last valid Host header. Most requests have the same header, which then needs no check.
  let soundHost: string | undefined = "";
  return (host) => {
    if (host === soundHost || host === undefined || host === "") return true;
    if (!isHost(host)) return false;
    soundHost = host;
    return true;
  };
}

function problemOfHost(host: string | undefined, allowedHosts: AllowedHosts | undefined): ApiError | undefined {
  if (allowedHosts === undefined || allowedHosts.includes(host)) return undefined;
  return new ApiError(
    "HOST_NOT_SERVED",
    `The daemon does not serve the host ${JSON.stringify(host ?? "")}. RUNTIME_ALLOWED_HOSTS lists the allowed hosts.`,
  );
}

/** Returns whether the API handles a path on a host name of the daemon itself. */
function isApiPath(apiBase: string, path: string): boolean {
  return path.startsWith(apiBase) ? isBoundary(path, apiBase.length) : path.startsWith("/.well-known/");
}

function isBoundary(path: string, index: number): boolean {
  return path.length === index || path[index] === "/" || path[index] === "?";
}

/** Returns the path and query of a request, whose target can also contain a scheme and host (RFC 9112, section 3.2.2). */
function originForm(request: IncomingMessage): string {
  const target = request.url ?? "/";
  if (target.startsWith("/")) return target;
  request.url = pathOf(request);
  return request.url;
}

function pathOf({ url: target = "/" }: IncomingMessage): string {
  return target.startsWith("/") ? target : (/^https?:\/\/[^/?#]*(\/.*)$/i.exec(target)?.[1] ?? "/");
}

function refuse(request: IncomingMessage, response: ServerResponse, problem: ApiError): void {
  // Closes the connection after this response, because the daemon cannot know where the next request begins.
  response.shouldKeepAlive = false;
  sendError(response, problem, requestIdOf(request));
}

type BrokenRequest = readonly [status: number, reason: string, code: ErrorCode, message: string];

/** Sends an error response on a connection whose bytes are not valid HTTP. */
function sendBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  const answer = responseInFlight(socket);
  if (socket.writable && answer?.req.complete && error.code !== "ECONNRESET") {
    // Closes the connection after the response to the request that precedes the invalid bytes.
    if (answer.listenerCount("finish", endConnection) === 0) answer.once("finish", endConnection);
    return;
  }
  // Sends no error while another response is incomplete, because the client would read the error as a part of that response.
  if (!socket.writable || error.code === "ECONNRESET" || answer?.headersSent) {
    socket.destroy();
    return;
  }
  endWith(socket, brokenRequests[error.code ?? ""] ?? notHttp);
}

function endConnection(this: ServerResponse): void {
  this.req.socket.end();
}

/**
 * Closes the connection of a stalled client. A client that waits for a worker or for the next event is not stalled, although its connection
 * transfers nothing.
 */
function endStalledConnection(socket: Socket): void {
  const answer = responseInFlight(socket);
  if (!answer || socket.writableLength > 0) {
    socket.destroy();
    return;
  }
  const { req: request } = answer;
  const isOwed = !request.complete && request.readableFlowing === true;
  if (isOwed) sendBrokenRequest(Object.assign(new Error("stalled"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
}

function endWith(socket: Duplex, [status, reason, code, message]: BrokenRequest): void {
  const error = new ApiError(code, message);
  const body = JSON.stringify(error.toBody());
  const headers = { ...errorHeaders(error), "content-length": Buffer.byteLength(body), connection: "close", "x-request-id": randomUUID() };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body}`);
  // Destroys the connection after a time limit, because some clients never close the connection on their side.
  const timer = setTimeout(() => socket.destroy(), leftoverBodyTimeoutMs);
  socket.once("close", () => clearTimeout(timer));
}

/**
 * Returns an error if a proxy could interpret the request differently than Node.js, which accepted the request. Otherwise returns
 * undefined.
 */
function problemOfHead(request: IncomingMessage): ApiError | undefined {
  const { headers } = request;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return new ApiError("NOT_IMPLEMENTED", "The request has an unsupported Transfer-Encoding header. Only chunked is supported.");
  const authority = authorityOf(request.url);
  if (headers.host === undefined && (request.httpVersion !== "1.0" || authority !== undefined)) return badHost("has no Host header");
  if (hostCount(request.rawHeaders) > 1) return badHost("has more than one Host header");
  if (authority !== undefined && authority.toLowerCase() !== headers.host?.toLowerCase())
    return badHost("has different hosts in its target and in its Host header");
  return undefined;
}

/** Returns the host in a request target with a scheme. Returns undefined if the target is only a path. */
function authorityOf(target = "/"): string | undefined {
  return target.startsWith("/") ? undefined : /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];
}

/** Counts the Host headers. Node.js keeps only the first Host header and reports no error, so this check is necessary. */
function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

function badHost(what: string): ApiError {
  return new ApiError("INVALID_REQUEST", `The request ${what}. HTTP/1.1 requires exactly one host.`);
}
