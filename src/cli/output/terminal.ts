import type { Environment } from "../config/environment.js";
import type { Io } from "./io.js";
import type { Terminal } from "./output.js";

const defaultWidthColumns = 80;

/** Returns the terminal, whose width and color depend on the environment variables and the streams. */
export function openTerminal(io: Io, environment: Environment, noColor: boolean): Terminal {
  return {
    stdinIsTty: io.stdinIsTty,
    stdoutIsTty: io.stdoutIsTty,
    stderrIsTty: io.stderrIsTty,
    widthColumns: Number(environment.COLUMNS) || (io.columns ?? defaultWidthColumns),
    hasColor: !noColor && choosesColor(environment, io.stderrIsTty),
    writeStdout: (text) => io.writeStdout(text),
    writeStderr: (text) => io.writeStderr(text),
  };
}

/**
 * Whether output to the terminal has color. The variable NO_COLOR has priority over FORCE_COLOR, and FORCE_COLOR over the type of the
 * terminal.
 */
function choosesColor({ NO_COLOR, FORCE_COLOR, TERM }: Environment, isTty: boolean): boolean {
  if (NO_COLOR !== undefined) return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return isTty && TERM !== "dumb";
}
