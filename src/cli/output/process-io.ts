import { isatty } from "node:tty";
import type { Io } from "./io.js";
import { writeSync } from "node:fs";

/** Node.js streams by file descriptor. A stream is used only when a synchronous write would block. */
const streams = { 1: () => process.stdout, 2: () => process.stderr } as const;

/** Returns the standard streams of this process. Creates process.stdin, stdout and stderr only on first use, to start faster. */
export function processIo(): Io {
  const stdoutIsTty = isatty(1);
  return {
    stdinIsTty: isatty(0),
    stdoutIsTty,
    stderrIsTty: isatty(2),
    get columns() {
      return stdoutIsTty ? process.stdout.columns : undefined;
    },
    get stdin() {
      return process.stdin;
    },
    get stderr() {
      return process.stderr;
    },
    writeStdout: (text) => writeAll(1, text),
    writeStderr: (text) => writeAll(2, text),
  };
}

/**
 * Writes synchronously to stdout (1) or stderr (2), without process.stdout: creating that stream takes a sixth of Node's start time. Exits
 * silently if the reader has closed the pipe.
 */
export function writeAll(descriptor: 1 | 2, text: string | Uint8Array): void {
  let rest: Uint8Array = typeof text === "string" ? Buffer.from(text) : text;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EPIPE") process.exit();
    if (code !== "EAGAIN") throw error;
    const stream = streams[descriptor]();
    stream.on("error", () => process.exit());
    // The write is complete when this call returns, because Node's streams for pipes write synchronously on Linux.
    stream.write(rest);
  }
}
