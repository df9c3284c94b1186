import type { IncomingMessage } from "node:http";
import { hasBody } from "../../web/request-body.js";
import { BodyKind } from "../protocol/frames.js";

/**
 * Returns the `BodyKind` of a request: `None` or `Stream`, by method and headers. `WorkerCall` changes the kind of a small body to
 * `Inline`.
 */
export function bodyKindOf(request: IncomingMessage): number {
  // Ignores a body of GET or HEAD, because HTTP defines no meaning for this body, and the `Request` constructor rejects it.
  if (request.method === "GET" || request.method === "HEAD") return BodyKind.None;
  return hasBody(request) ? BodyKind.Stream : BodyKind.None;
}

/** Returns whether the response to a request can have a body. */
export function mayHaveBody({ method }: IncomingMessage, status: number): boolean {
  return method !== "HEAD" && status !== 204 && status !== 205 && status !== 304;
}

/**
 * Returns the `Content-Length` for a status. Returns undefined for 204 and 304, which have no body. Returns 0 for 205 (RFC 9110, 15.3.6).
 */
export function framedLength(status: number, length: number | undefined): number | undefined {
  if (status === 205) return 0;
  return status === 204 || status === 304 ? undefined : length;
}
