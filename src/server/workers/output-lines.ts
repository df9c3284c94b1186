import type { Readable } from "node:stream";

const longestLine = 4096;
const linesPerSecond = 200;
const bytesPerSecond = 1024 * 1024;

/** Cuts an app's output into lines. A flood costs lines, then the app its time: its pipe is not read until the second is over. */
export function readOutputLines(stream: Readable, onLine: (line: string) => void): void {
  let partial = "";
  let lines = 0;
  let bytes = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;

  const emit = (line: string): void => {
    if (line === "") return;
    lines += 1;
    if (lines > linesPerSecond) dropped += 1;
    else onLine(line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
  };
  const nextSecond = (): void => {
    timer = undefined;
    if (dropped > 0) onLine(`(${dropped} more lines in the same second were dropped)`);
    lines = bytes = dropped = 0;
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
    if (dropped > 0) onLine(`(${dropped} more lines were dropped)`);
  });
  stream.on("error", () => undefined);
}
