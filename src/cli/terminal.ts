import { isatty } from "node:tty";
import type { Environment } from "./environment.js";
import type { Terminal } from "./output.js";
import { writeAll } from "./write-all.js";

const defaultWidthColumns = 80;

/** Looks at the process's descriptors. Does not touch process.stdin, stdout and stderr before a terminal is there: each costs time to make. */
export function openTerminal(environment: Environment, noColor: boolean): Terminal {
  const [stdinIsTty, stdoutIsTty, stderrIsTty] = [isatty(0), isatty(1), isatty(2)];
  const hasColor = !noColor && choosesColor(environment, stderrIsTty);
  // The packages that draw spinners and prompts know FORCE_COLOR only.
  if (!hasColor) process.env["FORCE_COLOR"] = "0";
  return {
    stdinIsTty,
    stdoutIsTty,
    stderrIsTty,
    widthColumns: Number(environment.COLUMNS) || (stdoutIsTty ? process.stdout.columns : defaultWidthColumns),
    hasColor,
    writeStdout: (text) => writeAll(1, text),
    writeStderr: (text) => writeAll(2, text),
  };
}

/** NO_COLOR wins over FORCE_COLOR, that over what the terminal is. */
function choosesColor({ NO_COLOR, FORCE_COLOR, TERM }: Environment, isTty: boolean): boolean {
  if (NO_COLOR !== undefined) return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return isTty && TERM !== "dumb";
}
