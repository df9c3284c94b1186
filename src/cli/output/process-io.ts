import { isatty } from "node:tty";
import type { Io } from "./io.js";
import { writeAll } from "./write-all.js";

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
