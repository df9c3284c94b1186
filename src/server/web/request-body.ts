import type { IncomingMessage } from "node:http";

/** Bytes per burst, followed by a pause of `pauseMs`: at most 64 MB per second, a few percent of the daemon's CPU time. */
export const burstBytes = 256 * 1024;
export const pauseMs = 4;

const discarded = new WeakSet<IncomingMessage>();

/**
 * Reads and discards the rest of a body, so that the client reads the response and can reuse the connection. Rate-limited: an endless body
 * would otherwise occupy the event loop.
 */
export function discardBody(request: IncomingMessage): void {
  if (discarded.has(request)) return;
  if (!request.complete && hasBody(request)) {
    discarded.add(request);
    // Starts the stream: Node would read an unread body without a limit.
    request.read(0);
    let readBytes = 0;
    request.on("data", (chunk: Buffer) => {
      readBytes += chunk.length;
      if (readBytes < burstBytes) return;
      readBytes = 0;
      request.pause();
      setTimeout(() => request.resume(), pauseMs);
    });
  }
  request.resume();
}

export function hasBody(request: IncomingMessage): boolean {
  return request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;
}
