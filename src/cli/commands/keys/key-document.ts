import type { ApiKey } from "../../../shared/contract/keys.js";
import { ago, endsIn, timeFields, toDateTime } from "../../output/dates.js";

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

/** When a key ends, in a cell of a list: how long it is still valid for people, RFC 3339 for programs. */
export function endCell({ expiresAt }: Pick<ApiKey, "expiresAt">, isForPeople: boolean): string {
  if (expiresAt === undefined) return "never";
  return isForPeople ? endsIn(expiresAt, Date.now()) : toDateTime(expiresAt);
}

/** When a key was last used, in a cell of a list. */
export function lastUseCell({ lastUsedAt }: Pick<ApiKey, "lastUsedAt">, isForPeople: boolean): string {
  if (lastUsedAt === undefined) return "never";
  return isForPeople ? ago(lastUsedAt, Date.now()) : toDateTime(lastUsedAt);
}

function isExpired(expiresAt: number | undefined): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now() / 1000;
}
