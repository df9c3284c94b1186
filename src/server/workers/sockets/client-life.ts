import type { OpenedSocket } from "./client-upgrade.js";
import { pingIntervalMs, slowestMessageMs } from "./socket-limits.js";

/** Pings a client, and cuts its connection when it gives no sign of life; returns what ends the watch. */
export function watchLife({ socket, webSocket }: OpenedSocket): () => void {
  let spokenMs = performance.now();
  let progress = -1;
  const onSpoken = (): void => void (spokenMs = performance.now());
  for (const event of ["message", "pong", "ping"] as const) webSocket.on(event, onSpoken);
  const timer = setInterval(() => {
    // While nobody reads from it, it cannot be heard.
    if (webSocket.isPaused) return onSpoken();
    const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
    if (moved === progress || performance.now() - spokenMs > slowestMessageMs) return webSocket.terminate();
    webSocket.ping();
    // The ping itself is no sign of the client's life.
    progress = socket.bytesRead + socket.bytesWritten - socket.writableLength;
  }, pingIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
