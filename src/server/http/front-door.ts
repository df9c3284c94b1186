import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../../shared/api-error.js";
import type { ErrorCode } from "../../shared/errors.js";
import { inviteBody } from "./request-body.js";
import { requestIdOf } from "./request-id.js";

export interface FrontDoorOptions {
  readonly apiBase: string;
  /** Answers what lies at or below the API base and `/.well-known/`. */
  readonly api: (request: IncomingMessage, response: ServerResponse) => unknown;
  /** Answers everything else. */
  readonly serve: (request: IncomingMessage, response: ServerResponse, requestId: string) => void;
}

/** How long a client may take to send the head of a request. */
const headersTimeoutMs = 20_000;
/** How long a request may take to arrive whole: a large upload over a slow line. */
const requestTimeoutMs = 15 * 60_000;
/** Longer than the idle time of common proxies, so that they close first and no request meets a closing connection. */
const keepAliveTimeoutMs = 75_000;

/** The HTTP server: hands each request to the API or to the workers. A served request never enters Koa. */
export function createFrontDoor({ apiBase, api, serve }: FrontDoorOptions): Server {
  const isApi = (path: string) => (path.startsWith(apiBase) ? isBoundary(path, apiBase.length) : path.startsWith("/.well-known/"));
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const target = originForm(request);
    if (isApi(target)) void api(request, response);
    else {
      inviteBody(request, response);
      serve(request, response, requestIdOf(request));
    }
  };
  const server = createServer(
    { headersTimeout: headersTimeoutMs, requestTimeout: requestTimeoutMs, keepAliveTimeout: keepAliveTimeoutMs },
    handle,
  );
  // With this listener Node leaves "100 Continue" to us: a refused call never invites its body.
  server.on("checkContinue", handle);
  server.on("clientError", answerBrokenRequest);
  return server;
}

function isBoundary(path: string, index: number): boolean {
  return path.length === index || path[index] === "/" || path[index] === "?";
}

/** Requests may name their target with scheme and host (RFC 9112, 3.2.2); only the path counts. */
function originForm(request: IncomingMessage): string {
  const target = request.url ?? "/";
  if (target.startsWith("/")) return target;
  request.url = /^https?:\/\/[^/?#]*(\/.*)$/i.exec(target)?.[1] ?? "/";
  return request.url;
}

const brokenRequests: Readonly<Record<string, readonly [status: number, reason: string, code: ErrorCode, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "INVALID_REQUEST", "The request's headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "INVALID_REQUEST", "The request did not arrive in time."],
};

/** Bytes that are not HTTP still get the one error shape. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [status, reason, code, message] = brokenRequests[error.code ?? ""] ?? [
    400,
    "Bad Request",
    "INVALID_REQUEST" as const,
    "The request is not valid HTTP.",
  ];
  const body = JSON.stringify(new ApiError(code, message).toBody());
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
