import type { Readable } from "node:stream";
import { OutputLimiter } from "../protocol/output-limiter.js";

const longestLine = 4096;
/** Beyond it a pipe is not read until the second is over: a flood costs lines, then the app its time. */
const bytesPerSecond = 1024 * 1024;

/** Cuts what an app writes to a descriptor into lines. */
export function readOutputLines(stream: Readable, to: { onLine: (line: string) => void; onDropped: (count: number) => void }): void {
  const budget = new OutputLimiter(to.onDropped);
  let partial = "";
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;

  const emit = (line: string): void => {
    if (line === "" || !budget.admits(Math.min(line.length, longestLine))) return;
    to.onLine(line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
  };
  const nextSecond = (): void => {
    timer = undefined;
    bytes = 0;
    stream.resume();
  };

  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    timer ??= setTimeout(nextSecond, 1000).unref();
    bytes += text.length;
    const parts = (partial + text).split("\n");
    partial = parts.pop() as string;
    if (partial.length > longestLine) partial = partial.slice(0, longestLine + 1);
    for (const part of parts) emit(part);
    if (bytes > bytesPerSecond) stream.pause();
  });
  stream.on("close", () => {
    emit(partial);
    clearTimeout(timer);
    budget.report();
  });
  stream.on("error", () => undefined);
}
