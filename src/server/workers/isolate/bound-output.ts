import type { Writable } from "node:stream";

/** What a stream holds that nobody has read yet; beyond it the app's output is dropped rather than kept. */
const mostQueuedBytes = 1024 * 1024;

/**
 * Keeps an app that writes faster than the daemon reads from filling its own memory with it. Tells of what is lost, once for each time
 * that it begins.
 */
export function boundOutput(stream: Writable, onLoss: () => void): void {
  const write = stream.write.bind(stream) as (...rest: unknown[]) => boolean;
  let isLosing = false;
  stream.write = (...rest: unknown[]): boolean => {
    const isFull = stream.writableLength > mostQueuedBytes;
    if (isFull && !isLosing) onLoss();
    isLosing = isFull;
    if (!isFull) return write(...rest);
    const callback = rest.at(-1);
    if (typeof callback === "function") process.nextTick(callback);
    return false;
  };
}
