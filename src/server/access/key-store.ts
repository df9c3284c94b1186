import type { Divergence, ResyncMode } from "../../shared/contract/shared-index.js";
import type { Permission, Role } from "../../shared/permissions.js";
import type { LeaseStore } from "../storage/lease-store.js";
import type { RecordStore } from "../storage/record-store.js";

/** Column names for the values that `valuesOf` returns, in the same order. */
export const newKeyColumns = "name, key_prefix, hash, role, permissions, namespaces, created_at, expires_at";

export interface StoredKey {
  readonly id: number;
  readonly name: string;
  readonly keyPrefix: string;
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly namespaces: readonly string[];
  /** Creation time in Unix seconds, like all times in this file. */
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

/** State of the key store, for health checks and metrics. */
export interface KeyStoreState {
  readonly mode: "local" | "sync";
  /** True if keys can be verified. */
  readonly isReadable: boolean;
  readonly isWritable: boolean;
  /** The reason why the store cannot be read or written, for operators. */
  readonly problem: string | undefined;
  /** The revisions of this daemon that the primary lacks. Undefined if it lacks none, or if there is no primary. */
  readonly divergence: Divergence | undefined;
  readonly replica: ReplicaState | undefined;
}

/** State of the replica of the key store. */
export interface ReplicaState {
  /** Seconds since the replica last contained all changes of the primary. Undefined before the first sync. */
  readonly lagSeconds: number | undefined;
  /** Number of failed requests to the primary and failed fetches of changes. */
  readonly failedSyncs: number;
  /** Number of times that the daemon has fetched a new replica in place of the current replica. */
  readonly renewals: number;
}

/**
 * Store of the API keys. Contains only hashes of the keys. Lookups read memory. A change resolves after it is on the disk. If a change
 * fails, throws KEY_STORE_UNAVAILABLE or INSUFFICIENT_STORAGE and changes nothing.
 */
export interface KeyStore {
  /** Returns the key with this hash, even if the key has expired. Returns undefined for an unknown or revoked key. */
  findByHash(hash: string): StoredKey | undefined;
  /** Returns the key with this id, even if the key has expired. Returns undefined for an unknown or revoked key. */
  find(id: number): StoredKey | undefined;
  /** Returns all keys that are not revoked, oldest first. */
  list(): StoredKey[];
  readonly keyCount: number;
  create(key: NewKey): StoredKey | Promise<StoredKey>;
  /**
   * Adds the replacement key `replacement` and sets the expiry of the old key to `endsAt`. If `endsAt` has passed, the old key expires
   * immediately. Returns the stored replacement key, or undefined if no active key has this id.
   */
  rotate(id: number, replacement: NewKey, endsAt: number): StoredKey | undefined | Promise<StoredKey | undefined>;
  /** Revokes a key. Returns false if no active key has this id. */
  revoke(id: number, now: number): boolean | Promise<boolean>;
  /** Records that a key was used. The store writes the time with the next batch of times. */
  markUsed(id: number, now: number): void;
  /** Small rows of other services. The key store contains these rows in addition to the keys. */
  readonly records: RecordStore;
  /** Leases for work that only one of the daemons with the same keys is allowed to do. */
  readonly leases: LeaseStore;
  readState(): KeyStoreState;
  /**
   * Ends a divergence, and returns the numbers of active keys and of records afterwards. Throws INDEX_NOT_DIVERGED, CHANGE_CONFLICT or
   * KEY_STORE_UNAVAILABLE. After an error, nothing has changed.
   */
  resync(mode: ResyncMode): Promise<{ keys: number; records: number }>;
  /**
   * Fetches the changes that other daemons have made. Throws KEY_STORE_UNAVAILABLE, without all changes after 2 s, or INDEX_DIVERGED.
   * Undefined without a primary.
   */
  fetchChanges?(): Promise<void>;
  /** Throws if the key store is not readable. */
  assertReadable(): void;
  close(): void | Promise<void>;
}

/** A row of the database table `keys`. */
export interface KeyRow {
  id: number;
  name: string;
  key_prefix: string;
  hash: string;
  role: Role;
  /** JSON array of permission names. The column `namespaces` is also a JSON array. */
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
