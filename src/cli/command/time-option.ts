import { parsePastTimeMs } from "../../shared/past-time.js";
import { usageError } from "./command-error.js";

/** Returns the text of a time option such as `--since` if it is a valid time, else throws a usage error. Does not convert the text. */
export function timeOption(flag: string, text: string | undefined): string | undefined {
  if (text !== undefined && parsePastTimeMs(text, 0) === undefined)
    throw usageError(`${flag} ${JSON.stringify(text)} is not a time`, "use 30s, 10m, 2h, 1d, a Unix time, or 2026-01-31T08:00:00Z");
  return text;
}
