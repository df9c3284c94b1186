import type { Readable, Writable } from "node:stream";

/** The standard streams of a command. */
export interface Io {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** Width of the terminal at stdout in columns. Undefined if stdout is not a terminal. */
  readonly columns: number | undefined;
  /** The stdin stream, created on first use. Only a terminal has `setRawMode`. */
  readonly stdin: Readable & { setRawMode?(isRaw: boolean): unknown };
  /** Stream for prompts and progress bars. Created on first use. */
  readonly stderr: Writable;
  /** Writes the whole text, or all bytes, to stdout before returning. */
  writeStdout(text: string | Uint8Array): void;
  /** Writes the whole text to stderr before returning. */
  writeStderr(text: string): void;
}
