import type { Readable, Writable } from "node:stream";

/** The standard streams of a command. */
export interface Io {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** Width in columns of the terminal to which stdout is connected. Undefined if stdout is not a terminal. */
  readonly columns: number | undefined;
  /** The stdin stream, which is created on first use. Only if stdin is a terminal, the stream has `setRawMode`. */
  readonly stdin: Readable & { setRawMode?(isRaw: boolean): unknown };
  /** Stream for prompts and progress bars. Created on first use. */
  readonly stderr: Writable;
  /** Writes the whole text or all bytes to stdout. Returns after everything is written. */
  writeStdout(text: string | Uint8Array): void;
  /** Writes the whole text to stderr. Returns after everything is written. */
  writeStderr(text: string): void;
}
