import type { Context } from "../command/command.js";
import type { Terminal } from "../output/output.js";

/**
 * Returns the terminal for a command that runs inside the dashboard. `write` receives the output, with results as aligned tables. Prompts
 * are not possible.
 */
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
