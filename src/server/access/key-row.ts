import type { Permission, Role } from "../../shared/permissions.js";
import type { NewKey, StoredKey } from "./key-store.js";

/** A key as SQLite has it. */
export interface KeyRow {
  id: number;
  name: string;
  key_prefix: string;
  hash: string;
  role: Role;
  /** JSON, as the namespaces are. */
  permissions: string;
  namespaces: string;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
}

/** Of the columns that `valuesOf` has values for. */
export const newKeyColumns = "name, key_prefix, hash, role, permissions, namespaces, created_at, expires_at";

export function valuesOf(key: NewKey): (string | number | null)[] {
  const { name, keyPrefix, hash, role, permissions, namespaces, createdAt, expiresAt } = key;
  return [name, keyPrefix, hash, role, JSON.stringify(permissions), JSON.stringify(namespaces), createdAt, expiresAt ?? null];
}

export function fromRow(row: KeyRow): StoredKey {
  return {
    id: row.id,
    name: row.name,
    keyPrefix: row.key_prefix,
    role: row.role,
    permissions: JSON.parse(row.permissions) as Permission[],
    namespaces: JSON.parse(row.namespaces) as string[],
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    expiresAt: row.expires_at ?? undefined,
  };
}
