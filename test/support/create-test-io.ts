import { Readable, Writable } from "node:stream";
import type { Io } from "../../src/cli/output/io.js";

export interface TestIo extends Io {
  /** Text written to stdout so far. */
  stdoutText(): string;
  /** Text written to stderr so far, including prompts and progress bars. */
  stderrText(): string;
}

export interface TestIoOptions {
  /** Content of stdin. */
  readonly input?: string | undefined;
  /** Whether stdin, stdout and stderr count as a terminal. */
  readonly isTerminal?: boolean | undefined;
  /** Width of the terminal. */
  readonly columns?: number | undefined;
}

/** Creates standard streams in memory for a command. They count as a pipe unless the test requests a terminal. */
export function createTestIo({ input = "", isTerminal = false, columns = 100 }: TestIoOptions = {}): TestIo {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  return {
    stdinIsTty: isTerminal,
    stdoutIsTty: isTerminal,
    stderrIsTty: isTerminal,
    columns: isTerminal ? columns : undefined,
    stdin: Readable.from([Buffer.from(input)]),
    stderr: new Writable({
      write(chunk: Buffer, _encoding, done) {
        stderr.push(chunk);
        done();
      },
    }),
    writeStdout: (text) => void stdout.push(Buffer.from(text)),
    writeStderr: (text) => void stderr.push(Buffer.from(text)),
    stdoutText: () => Buffer.concat(stdout).toString("utf8"),
    stderrText: () => Buffer.concat(stderr).toString("utf8"),
  };
}
