import { ConfigError } from "./config-error.js";

/**
 * Returns `parsed`, the parsed value of an environment variable. If `parsed` is undefined, throws a ConfigError whose message contains
 * `takes`, the description of the accepted values.
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
