import type { TransportResponse } from "../../shared/client.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { Settings } from "./settings.js";

const code = "AUTH_REQUIRED";

/** The failure of a call whose key the daemon rejects, in words for the place that the key came from; undefined for other responses. */
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

/** A key of a variable or a flag is used in place of the kept one: signing in would change nothing. */
function hintFor(source: string): string {
  if (source === "RUNTIMECTL_KEY" || source === "RUNTIMECTL_KEY_FILE") return `unset ${source}, or set it to a key of this daemon`;
  if (source === "--key-file") return "name a file with a key of this daemon, or leave --key-file out";
  if (source === "standard input" || source === "the prompt") return "copy the whole key, and check that it is one of this daemon";
  return "sign in again: runtimectl auth login";
}

/** A proxy before the daemon may respond with 401, too. */
function isAuthRequired({ text }: TransportResponse): boolean {
  try {
    return (JSON.parse(text) as { error?: { code?: unknown } }).error?.code === code;
  } catch {
    return false;
  }
}
