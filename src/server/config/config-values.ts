import { ConfigError } from "./config-error.js";

/** Returns the parsed value of a variable. Throws ConfigError with the accepted values when `parsed` is undefined. */
export function accepted<Value>(variable: string, text: string, takes: string, parsed: Value | undefined): Value {
  if (parsed === undefined) throw new ConfigError(variable, text, takes);
  return parsed;
}

/** Returns the entries of a list without empty ones. */
export function commaSeparated(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
