import { usageError } from "../command/command-error.js";

/** Checks that the text can name a profile: it becomes a key in a YAML file and a word on command lines. */
export function profileName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw usageError(`${JSON.stringify(text)} cannot name a profile`, "use letters, digits, dots, dashes and underscores");
}
