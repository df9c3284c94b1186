import type { Readable, Writable } from "node:stream";

/** Where a command reads and writes, and what is connected there. */
export interface Io {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** Width of the terminal at stdout; undefined if stdout is not a terminal. */
  readonly columns: number | undefined;
  /** Created on first use. A terminal has `setRawMode`. */
  readonly stdin: Readable & { setRawMode?(isRaw: boolean): unknown };
  /** For prompts and progress bars, which draw. Created on first use. */
  readonly stderr: Writable;
  /** Writes all of it before returning. */
  writeStdout(text: string | Uint8Array): void;
  /** Writes all of it before returning. */
  writeStderr(text: string): void;
}
