import { ApiError } from "../../shared/api-error.js";
import { parseOverlapMs, type ApiKey } from "../../shared/contract/keys.js";
import { parseLifetimeSeconds } from "../../shared/duration.js";
import { namespacesWithin } from "../../shared/namespace.js";
import { permissions, rolePermissions, roles } from "../../shared/permissions.js";
import { assertMayGrant, assertMayRevoke, effectivePermissions, toPrincipal } from "../access/principals.js";
import { createKeySecret, hashKeySecret, shownPrefixOf } from "../access/credentials.js";
import type { KeyStore, NewKey, StoredKey } from "../access/key-store.js";
import type { ResourceHandlers } from "../http/handler.js";

/** Creates the API handlers for keys. `now` returns the current time in Unix seconds. */
export function createKeyHandlers({ store, now }: { store: KeyStore; now: () => number }): ResourceHandlers<"keys"> {
  return {
    list: ({ principal }) => ({
      keys: store
        .list()
        .filter(({ namespaces }) => namespacesWithin(namespaces, principal.namespaces))
        .map(toApiKey),
    }),
    meta: () => ({
      roles: [...roles],
      permissions: [...permissions],
      rolePermissions: {
        admin: [...rolePermissions.admin],
        editor: [...rolePermissions.editor],
        viewer: [...rolePermissions.viewer],
        custom: [],
      },
    }),
    create: async ({ body, principal }) => {
      const grant = {
        name: body.name,
        role: body.role,
        permissions: [...new Set(effectivePermissions({ role: body.role, permissions: body.permissions ?? [] }))],
        namespaces: normaliseNamespaces(body.namespaces),
      };
      const { secret, ...key } = newKey(grant, now(), parseLifetimeSeconds(body.expiresIn ?? "never"));
      assertMayGrant(principal, key);
      return { success: true, data: { ...toApiKey(await store.create(key)), key: secret } };
    },
    rotate: async ({ params: { id }, body, principal }) => {
      const overlapSeconds = Math.ceil((parseOverlapMs(body.overlap) ?? 0) / 1000);
      if (id === principal.id && overlapSeconds === 0)
        throw new ApiError(
          "KEY_SELF_REVOKE_FORBIDDEN",
          "A key cannot rotate itself without a grace period. Set `overlap` to a duration such as 24h, or use another key.",
        );
      const old = store.find(id) ?? notFound(id);
      const grant = { ...old, permissions: effectivePermissions(old) };
      assertMayRevoke(principal, grant);
      const createdAt = now();
      const { secret, ...replacement } = newKey(
        grant,
        createdAt,
        replacementLifetimeSeconds(old, { createdAt, isOwn: id === principal.id }),
      );
      assertMayGrant(principal, replacement);
      const endsAt = Math.min(createdAt + overlapSeconds, old.expiresAt ?? Infinity);
      const stored = (await store.rotate(id, replacement, endsAt)) ?? notFound(id);
      return { success: true, data: { ...toApiKey(stored), key: secret, rotated: { id, expiresAt: endsAt } } };
    },
    revoke: async ({ params, principal }) => {
      if (params.id === principal.id) throw new ApiError("KEY_SELF_REVOKE_FORBIDDEN", "A key cannot revoke itself. Use another key.");
      const key = store.find(params.id) ?? notFound(params.id);
      assertMayRevoke(principal, { ...key, permissions: effectivePermissions(key) });
      if (!(await store.revoke(params.id, now()))) notFound(params.id);
      return { success: true };
    },
  };
}

/** Creates a key with a new secret. Does not store the key. */
function newKey(
  { name, role, permissions: granted, namespaces }: Pick<NewKey, "name" | "role" | "permissions" | "namespaces">,
  createdAt: number,
  lifetimeSeconds: number | undefined,
): NewKey & { readonly secret: string } {
  const secret = createKeySecret();
  return {
    name,
    role,
    permissions: granted,
    namespaces,
    createdAt,
    expiresAt: lifetimeSeconds === undefined ? undefined : createdAt + lifetimeSeconds,
    secret,
    keyPrefix: shownPrefixOf(secret),
    hash: hashKeySecret(secret),
  };
}

/**
 * Returns the lifetime of a replacement key in seconds. The lifetime begins now and is as long as that of the old key. If a key rotates
 * itself, the replacement key expires at the same time as the old key.
 */
function replacementLifetimeSeconds(
  { expiresAt, createdAt: oldCreatedAt }: StoredKey,
  { createdAt, isOwn }: { createdAt: number; isOwn: boolean },
): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt - (isOwn ? createdAt : oldCreatedAt);
}

function notFound(id: number): never {
  throw new ApiError("KEY_NOT_FOUND", `No active key has the id ${id}. The key does not exist or is already revoked.`);
}

function toApiKey(key: StoredKey): ApiKey {
  return { ...toPrincipal(key), createdAt: key.createdAt, ...(key.lastUsedAt === undefined ? {} : { lastUsedAt: key.lastUsedAt }) };
}

/** Returns the namespaces of a key without duplicates. If the list contains `*`, returns only `*`. Undefined stands for all namespaces. */
function normaliseNamespaces(namespaces: readonly string[] | undefined): string[] {
  return namespaces === undefined || namespaces.includes("*") ? ["*"] : [...new Set(namespaces)];
}
