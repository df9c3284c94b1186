import { CommandError } from "../command/command-error.js";

/** Why something failed, with what to do next where that is known. */
export function reasonOf(error: unknown): string {
  if (error instanceof CommandError && error.hint !== undefined) return `${error.message}; ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
