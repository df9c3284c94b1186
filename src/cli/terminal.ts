import type { Environment } from "./environment.js";
import type { Terminal } from "./output.js";

const defaultWidthColumns = 80;

/** Looks at the process's streams; a reader that went away ends the process without a word. */
export function openTerminal(environment: Environment, noColor: boolean): Terminal {
  const { stdin, stdout, stderr } = process;
  for (const stream of [stdout, stderr]) stream.on("error", endOnClosedPipe);
  const hasColor =
    !noColor && environment.NO_COLOR === undefined && environment.FORCE_COLOR !== "0" && environment.TERM !== "dumb" && stderr.isTTY;
  // The packages that draw spinners and prompts know FORCE_COLOR only.
  if (!hasColor) process.env["FORCE_COLOR"] = "0";
  return {
    stdinIsTty: stdin.isTTY,
    stdoutIsTty: stdout.isTTY,
    stderrIsTty: stderr.isTTY,
    widthColumns: stdout.columns ?? defaultWidthColumns,
    hasColor,
    writeStdout: (text) => void stdout.write(text),
    writeStderr: (text) => void stderr.write(text),
  };
}

function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  process.exit();
}
