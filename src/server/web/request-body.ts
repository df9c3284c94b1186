import type { IncomingMessage } from "node:http";

/**
 * Number of discarded bytes per burst, followed by a pause of `pauseMs`. The resulting maximum is 64 MB per second, which takes a few
 * percent of the daemon's CPU time.
 */
export const burstBytes = 256 * 1024;
export const pauseMs = 4;

const discarded = new WeakSet<IncomingMessage>();

/**
 * Reads and discards the remaining request body, so that the client reads the response and can reuse the connection. The rate is limited,
 * because an endless body would otherwise occupy the event loop.
 */
export function discardBody(request: IncomingMessage): void {
  if (discarded.has(request)) return;
  if (!request.complete && hasBody(request)) {
    discarded.add(request);
    // Starts the stream, because Node.js would read an unread body without a rate limit.
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
