import type { Context } from "../command/command.js";
import type { Terminal } from "../output/output.js";

/** Returns the terminal for a command that the dashboard runs. Captures the output, formatted as aligned tables, and allows no prompts. */
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
