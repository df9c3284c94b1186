import type { IncomingMessage } from "node:http";

/**
 * Number of bytes that the daemon discards before each pause of `pauseMs`. The maximum rate is 64 MB per second, which takes a few percent
 * of the daemon's CPU time.
 */
export const burstBytes = 256 * 1024;
export const pauseMs = 4;

const discarded = new WeakSet<IncomingMessage>();

/**
 * Discards the rest of a request body, so that the client can read the response and use the connection again. The rate is limited, because
 * an endless body would occupy the event loop.
 */
export function discardBody(request: IncomingMessage): void {
  if (discarded.has(request)) return;
  if (!request.complete && hasBody(request)) {
    discarded.add(request);
    // Starts the stream here, because Node.js would read an unread body without a limit of the rate.
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
