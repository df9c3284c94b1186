import { ApiError } from "../../shared/api-error.js";
import type { ApiKey } from "../../shared/contract/keys.js";
import { parseLifetimeSeconds } from "../../shared/duration.js";
import { permissions, rolePermissions, roles } from "../../shared/permissions.js";
import { assertMayGrant } from "../access/grant.js";
import { createKeySecret, hashKeySecret, shownPrefixOf } from "../access/key-secret.js";
import type { KeyStore, StoredKey } from "../access/key-store.js";
import { effectivePermissions, toPrincipal } from "../access/principals.js";
import type { ResourceHandlers } from "../http/handler.js";

/** `now` gives Unix seconds. */
export function createKeyHandlers({ store, now }: { store: KeyStore; now: () => number }): ResourceHandlers<"keys"> {
  return {
    list: () => ({ keys: store.list().map(toApiKey) }),
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
    create: ({ body, principal }) => {
      const grant = {
        name: body.name,
        role: body.role,
        permissions: [...new Set(effectivePermissions({ role: body.role, permissions: body.permissions ?? [] }))],
        namespaces: normaliseNamespaces(body.namespaces),
      };
      assertMayGrant(principal, grant);
      const createdAt = now();
      const lifetimeSeconds = parseLifetimeSeconds(body.expiresIn ?? "never");
      const secret = createKeySecret();
      const key = store.create({
        ...grant,
        keyPrefix: shownPrefixOf(secret),
        hash: hashKeySecret(secret),
        createdAt,
        expiresAt: lifetimeSeconds === undefined ? undefined : createdAt + lifetimeSeconds,
      });
      const { lastUsedAt: _unused, ...created } = toApiKey(key);
      return { success: true, data: { ...created, key: secret } };
    },
    revoke: ({ params, principal }) => {
      if (params.id === principal.id)
        throw new ApiError("KEY_SELF_REVOKE_FORBIDDEN", "A key cannot revoke itself; use another key for it.");
      if (!store.revoke(params.id, now()))
        throw new ApiError("KEY_NOT_FOUND", `No active key has the id ${params.id}; it may have been revoked before.`);
      return { success: true };
    },
  };
}

function toApiKey(key: StoredKey): ApiKey {
  return { ...toPrincipal(key), createdAt: key.createdAt, ...(key.lastUsedAt === undefined ? {} : { lastUsedAt: key.lastUsedAt }) };
}

/** `*` swallows all others; nothing given means all. */
function normaliseNamespaces(namespaces: readonly string[] | undefined): string[] {
  return namespaces === undefined || namespaces.includes("*") ? ["*"] : [...new Set(namespaces)];
}
