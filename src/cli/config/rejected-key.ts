import type { TransportResponse } from "../../shared/client.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { Settings } from "./settings.js";

const code = "AUTH_REQUIRED";

/**
 * If the response rejects the API key, returns the error, with a hint for the source of the key. Returns undefined for any other response.
 */
export function rejectedKey({ origin, key }: Pick<Settings, "origin" | "key">, response: TransportResponse): CommandError | undefined {
  if (key === undefined || response.status !== 401 || !isAuthRequired(response)) return undefined;
  return new CommandError(code, `${origin.value} rejects the key from ${key.source}: it is unknown, expired or revoked`, {
    exitCode: exitCodes.notAuthenticated,
    hint: hintFor(key.source),
    status: response.status,
    requestId: response.requestId,
  });
}

export function isRejectedKey(error: unknown): error is CommandError {
  return error instanceof CommandError && error.code === code;
}

/**
 * Returns the fix for a rejected API key from this source. A key from a variable or flag overrides the stored key, so signing in again
 * would not help.
 */
function hintFor(source: string): string {
  if (source === "RUNTIMECTL_KEY" || source === "RUNTIMECTL_KEY_FILE") return `unset ${source}, or set it to a key of this daemon`;
  if (source === "--key-file") return "use a file with a key of this daemon, or remove --key-file";
  if (source === "standard input" || source === "the prompt") return "check that the key is complete and belongs to this daemon";
  return "sign in again: runtimectl auth login";
}

/** Whether the daemon itself sent the 401 response. A proxy can also send a 401 response. */
function isAuthRequired({ text }: TransportResponse): boolean {
  try {
    return (JSON.parse(text) as { error?: { code?: unknown } }).error?.code === code;
  } catch {
    return false;
  }
}
