import { ConfigError } from "./config-error.js";

/**
 * Returns the parsed value of an environment variable. If `parsed` is undefined, throws ConfigError with `takes`, the description of
 * accepted values.
 */
export function accepted<Value>(variable: string, text: string, takes: string, parsed: Value | undefined): Value {
  if (parsed === undefined) throw new ConfigError(variable, text, takes);
  return parsed;
}

/** Returns the entries of a comma-separated list. Omits empty entries. */
export function commaSeparated(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
