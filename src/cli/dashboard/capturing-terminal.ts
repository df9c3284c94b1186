import type { Context } from "../command/command.js";
import type { Terminal } from "../output/output.js";

/** Where a command writes when the dashboard runs it: tables as people read them, and nobody to ask. */
export function capturingTerminal({ terminal }: Pick<Context, "terminal">, write: (text: string | Uint8Array) => void): Terminal {
  return {
    stdinIsTty: false,
    stdoutIsTty: true,
    stderrIsTty: false,
    widthColumns: terminal.widthColumns,
    hasColor: false,
    writeStdout: write,
    writeStderr: write,
  };
}
