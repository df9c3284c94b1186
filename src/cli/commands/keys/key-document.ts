import type { ApiKey } from "../../../shared/contract/keys.js";
import { timeFields, toDay } from "../../dates.js";

/** What `keyDocument` may have. */
export const keyFields = [
  "id",
  "name",
  "keyPrefix",
  "role",
  "permissions",
  "namespaces",
  "createdAt",
  "createdAtSeconds",
  "lastUsedAt",
  "lastUsedAtSeconds",
  "expiresAt",
  "expiresAtSeconds",
  "expired",
  "own",
] as const;

/** A key in a document: times as text and as the numbers that the API gave; `own` is the key that the command signs in with. */
export function keyDocument({ createdAt, lastUsedAt, expiresAt, ...key }: ApiKey, ownId: number): Record<string, unknown> {
  return {
    ...key,
    own: key.id === ownId,
    ...timeFields("createdAt", createdAt),
    ...timeFields("lastUsedAt", lastUsedAt),
    ...timeFields("expiresAt", expiresAt),
    expired: isExpired(expiresAt),
  };
}

/** The day on which a key ends, for people. */
export function endOf({ expiresAt }: Pick<ApiKey, "expiresAt">): string {
  if (expiresAt === undefined) return "never";
  return `${toDay(expiresAt)}${isExpired(expiresAt) ? " (expired)" : ""}`;
}

/** The day on which a key was last used, for people. */
export function lastUseOf({ lastUsedAt }: Pick<ApiKey, "lastUsedAt">): string {
  return lastUsedAt === undefined ? "never" : toDay(lastUsedAt);
}

function isExpired(expiresAt: number | undefined): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now() / 1000;
}
