import { usageError } from "../command/command-error.js";

/**
 * Returns the text if it is a valid profile name, else throws a usage error. Users write profile names in config.yaml and in `--profile`.
 */
export function profileName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw usageError(`${JSON.stringify(text)} is not a valid profile name`, "use letters, digits, dots, dashes and underscores");
}
