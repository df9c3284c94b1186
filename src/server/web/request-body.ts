import type { IncomingMessage } from "node:http";

/** So many bytes are read one after the other, then none for a while: at most 64 MB a second, a few hundredths of the daemon's time. */
export const burstBytes = 256 * 1024;
export const pauseMs = 4;

const discarded = new WeakSet<IncomingMessage>();

/**
 * Reads what is left of a body that nobody wants, so that its client comes to read the answer, and to send its next request. Not as fast as
 * it can send: a body without end would take the event loop from everybody else.
 */
export function discardBody(request: IncomingMessage): void {
  if (discarded.has(request)) return;
  if (!request.complete && hasBody(request)) {
    discarded.add(request);
    // Of one that nobody began to read Node takes all that comes, as fast as it comes.
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
