import { parsePastTimeMs } from "../../shared/past-time.js";
import { usageError } from "./command-error.js";

/** The value of an option such as `--since`, as it was written; throws a usage error when it is no time. */
export function timeOption(flag: string, text: string | undefined): string | undefined {
  if (text !== undefined && parsePastTimeMs(text, 0) === undefined)
    throw usageError(`${flag} ${JSON.stringify(text)} is no time`, "it takes 30s, 10m, 2h, 1d, a Unix time, or 2026-01-31T08:00:00Z");
  return text;
}
