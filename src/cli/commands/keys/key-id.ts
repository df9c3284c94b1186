import { usageError } from "../../command/command-error.js";

/** Parses a key id. Throws a usage error for a text that is not a positive integer. */
export function parseKeyId(text: string): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
  if (id !== undefined && Number.isSafeInteger(id)) return id;
  throw usageError(`${JSON.stringify(text)} is not a key id`, "runtimectl keys list");
}
