import { usageError } from "../command/command-error.js";

/** Returns a valid profile name or throws a usage error. The name is a YAML key and a command-line word. */
export function profileName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw usageError(`${JSON.stringify(text)} is not a valid profile name`, "use letters, digits, dots, dashes and underscores");
}
