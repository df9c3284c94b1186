import { usageError } from "../../command/command-error.js";

/** Checks that the text is a key's id. */
export function parseKeyId(text: string): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
  if (id !== undefined && Number.isSafeInteger(id)) return id;
  throw usageError(`${JSON.stringify(text)} is not a key's id`, "runtimectl keys list");
}
