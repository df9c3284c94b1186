import { isatty } from "node:tty";
import type { Io } from "./io.js";
import { writeSync } from "node:fs";

/** Take over when a descriptor does not take all at once. */
const streams = { 1: () => process.stdout, 2: () => process.stderr } as const;

/** The descriptors of this process. process.stdin, stdout and stderr are created only when needed: each costs start-up time. */
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
 * Writes to stdout (1) or stderr (2) at once. Goes round process.stdout, which costs a sixth of an empty Node's start, while the
 * descriptor takes what it is given. A reader that went away ends the process without a word.
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
    // The rest is written when this returns: Node's own streams wait for a pipe, too.
    stream.write(rest);
  }
}
