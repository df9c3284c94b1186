import { parsePastTimeMs } from "../../shared/past-time.js";
import { usageError } from "./command-error.js";

/** Returns the value of a time option such as `--since` unchanged. Throws a usage error if the value is not a time. */
export function timeOption(flag: string, text: string | undefined): string | undefined {
  if (text !== undefined && parsePastTimeMs(text, 0) === undefined)
    throw usageError(`${flag} ${JSON.stringify(text)} is not a time`, "use 30s, 10m, 2h, 1d, a Unix time, or 2026-01-31T08:00:00Z");
  return text;
}
