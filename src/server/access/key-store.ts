import type { Permission, Role } from "../../shared/permissions.js";
import type { RecordStore } from "../storage/record-store.js";

/** Column names for the values that `valuesOf` returns. */
export const newKeyColumns = "name, key_prefix, hash, role, permissions, namespaces, created_at, expires_at";

export interface StoredKey {
  readonly id: number;
  readonly name: string;
  readonly keyPrefix: string;
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly namespaces: readonly string[];
  /** Unix seconds, like all times in this file. */
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
  readonly expiresAt: number | undefined;
}

export interface NewKey {
  readonly name: string;
  readonly keyPrefix: string;
  readonly hash: string;
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly namespaces: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
}

/** State of a key store. */
export interface KeyStoreState {
  readonly mode: "local" | "sync";
  /** Whether keys can be verified. */
  readonly isReadable: boolean;
  readonly isWritable: boolean;
  /** The reason why the store cannot be read or written, for operators. */
  readonly problem: string | undefined;
  readonly replica: ReplicaState | undefined;
}

/** State of a replica. */
export interface ReplicaState {
  /** Seconds since the replica was last equal to the primary; undefined before the first sync. */
  readonly lagSeconds: number | undefined;
  /** Number of failed requests to the primary and failed fetches. */
  readonly failedSyncs: number;
  /** Number of times that a new replica has replaced the current one. */
  readonly renewals: number;
}

/**
 * The API keys, of which only the hashes are stored. Lookups read memory. Changes resolve when they are stored. A failed change throws
 * KEY_STORE_UNAVAILABLE or INSUFFICIENT_STORAGE and changes nothing.
 */
export interface KeyStore {
  /** Returns the key with the hash, even if expired; undefined for an unknown or revoked key. */
  findByHash(hash: string): StoredKey | undefined;
  /** Returns the key with the id, even if expired; undefined for an unknown or revoked key. */
  find(id: number): StoredKey | undefined;
  /** Returns all keys that are not revoked, oldest first. */
  list(): StoredKey[];
  readonly keyCount: number;
  create(key: NewKey): StoredKey | Promise<StoredKey>;
  /**
   * Adds a replacement and sets the expiry of the key to `endsAt`. The key expires immediately if `endsAt` has passed. Returns the
   * replacement; undefined when no active key has this id.
   */
  rotate(id: number, twin: NewKey, endsAt: number): StoredKey | undefined | Promise<StoredKey | undefined>;
  /** Revokes a key. Returns false when no active key has this id. */
  revoke(id: number, now: number): boolean | Promise<boolean>;
  /** Records a use of a key, which the next batch stores. */
  markUsed(id: number, now: number): void;
  /** Small rows of other services, stored with the keys. */
  readonly records: RecordStore;
  readState(): KeyStoreState;
  /** Throws when the store is not readable. */
  assertReadable(): void;
  close(): void | Promise<void>;
}

/** A row of the table of keys. */
export interface KeyRow {
  id: number;
  name: string;
  key_prefix: string;
  hash: string;
  role: Role;
  /** A JSON array of names, as in `namespaces`. */
  permissions: string;
  namespaces: string;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
}

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
