import { isatty } from "node:tty";
import type { Io } from "./io.js";
import { writeSync } from "node:fs";

/** Node.js streams by file descriptor. Used only if a synchronous write would block. */
const streams = { 1: () => process.stdout, 2: () => process.stderr } as const;

/**
 * Returns the standard streams of this process. Creates process.stdin, stdout and stderr only on first use, so that commands start faster.
 */
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
 * Writes synchronously to stdout (1) or stderr (2). Does not use process.stdout, because creating this stream takes a sixth of Node's start
 * time. If the reader has closed the pipe, exits without a message.
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
    // On Linux, Node's streams for pipes write synchronously. All bytes are therefore written when this call returns.
    stream.write(rest);
  }
}
