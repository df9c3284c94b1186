import { ConfigError } from "./config-error.js";

/** What a variable means; throws ConfigError, which says what it takes, when its text could not be parsed. */
export function accepted<Value>(variable: string, text: string, takes: string, parsed: Value | undefined): Value {
  if (parsed === undefined) throw new ConfigError(variable, text, takes);
  return parsed;
}

/** The entries of a list, without those that are empty. */
export function commaSeparated(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
