import { isatty } from "node:tty";
import type { Environment } from "./environment.js";
import type { Terminal } from "./output.js";
import { writeAll } from "./write-all.js";

const defaultWidthColumns = 80;

/** Looks at the process's descriptors. Does not touch process.stdin, stdout and stderr before a terminal is there: each costs time to make. */
export function openTerminal(environment: Environment, noColor: boolean): Terminal {
  const [stdinIsTty, stdoutIsTty, stderrIsTty] = [isatty(0), isatty(1), isatty(2)];
  const hasColor =
    !noColor && environment.NO_COLOR === undefined && environment.FORCE_COLOR !== "0" && environment.TERM !== "dumb" && stderrIsTty;
  // The packages that draw spinners and prompts know FORCE_COLOR only.
  if (!hasColor) process.env["FORCE_COLOR"] = "0";
  return {
    stdinIsTty,
    stdoutIsTty,
    stderrIsTty,
    widthColumns: stdoutIsTty ? process.stdout.columns : defaultWidthColumns,
    hasColor,
    writeStdout: (text) => writeAll(1, text),
    writeStderr: (text) => writeAll(2, text),
  };
}
