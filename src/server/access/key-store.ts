import type { Permission, Role } from "../../shared/permissions.js";
import type { RecordStore } from "../storage/record-store.js";

/** Of the columns that `valuesOf` has values for. */
export const newKeyColumns = "name, key_prefix, hash, role, permissions, namespaces, created_at, expires_at";

export interface StoredKey {
  readonly id: number;
  readonly name: string;
  readonly keyPrefix: string;
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly namespaces: readonly string[];
  /** Unix seconds, as all times here. */
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

/** How a key store is. */
export interface KeyStoreState {
  readonly mode: "local" | "sync";
  /** Whether keys can be told from others. */
  readonly isReadable: boolean;
  readonly isWritable: boolean;
  /** Why it cannot be read or written, in words for operators. */
  readonly problem: string | undefined;
  readonly replica: ReplicaState | undefined;
}

/** How far the copy of a primary's keys is behind. */
export interface ReplicaState {
  /** Since it was last known to have all that the primary has; undefined when it never was. */
  readonly lagSeconds: number | undefined;
  /** Attempts to ask the primary or to fetch from it that failed. */
  readonly failedSyncs: number;
  /** How often it was thrown away and fetched again. */
  readonly renewals: number;
}

/**
 * The API keys, hashes only. Finding one reads memory, never a database or a network; a change has been stored when it returns.
 * Changes throw KEY_STORE_UNAVAILABLE or INSUFFICIENT_STORAGE, and nothing was changed then.
 */
export interface KeyStore {
  /** The key with that hash, expired ones included; undefined when unknown or revoked. */
  findByHash(hash: string): StoredKey | undefined;
  /** The key with that id, expired ones included; undefined when unknown or revoked. */
  find(id: number): StoredKey | undefined;
  /** All keys that are not revoked, oldest first. */
  list(): StoredKey[];
  readonly keyCount: number;
  create(key: NewKey): StoredKey | Promise<StoredKey>;
  /**
   * Adds a twin and lets the key with the id end at `endsAt`, at once if that is not later than the twin's creation; returns the twin.
   * Undefined, and nothing changed, when no active key has the id.
   */
  rotate(id: number, twin: NewKey, endsAt: number): StoredKey | undefined | Promise<StoredKey | undefined>;
  /** False when no active key has the id. */
  revoke(id: number, now: number): boolean | Promise<boolean>;
  /** Notes that a key was used; written with the next batch. */
  markUsed(id: number, now: number): void;
  /** Rows that are stored with the keys. */
  readonly records: RecordStore;
  readState(): KeyStoreState;
  /** Throws when the store cannot be read. */
  assertReadable(): void;
  close(): void | Promise<void>;
}

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
