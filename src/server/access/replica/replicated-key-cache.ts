import { setImmediate as turn } from "node:timers/promises";
import { fromRow, type StoredKey } from "../key-store.js";
import { KeyCache } from "../key-cache.js";
import type { ReplicatedKeyRow } from "./primary-sql.js";
import type { ReplicaReader } from "./replica-database.js";

/** Number of rows per read. The daemon serves requests between two reads, so a long table does not block them. */
const pageRows = 500;
const greatestId = Number.MAX_SAFE_INTEGER;

/** A change that another daemon made to a key. */
export interface ForeignChange {
  readonly type: "key.created" | "key.rotated" | "key.revoked";
  readonly id: number;
  readonly name: string;
  readonly namespaces: string[];
}

/**
 * All keys in memory: the keys of the replica, and later changes of this daemon. A change of this daemon is valid immediately, even while
 * the replica does not contain it.
 */
export class ReplicatedKeyCache {
  #keys = new KeyCache();
  #revision = 0;
  /** Rows that this daemon changed, by key id. The replica possibly does not contain these changes yet. */
  readonly #ahead = new Map<number, ReplicatedKeyRow>();

  get keys(): KeyCache {
    return this.#keys;
  }

  /** Rows that this daemon changed and the replica possibly does not contain yet. */
  get ownRows(): ReplicatedKeyRow[] {
    return [...this.#ahead.values()];
  }

  /** Applies a change of this daemon that the primary has confirmed. */
  noteOwn(row: ReplicatedKeyRow): void {
    if (row.revision > this.#revision) this.#ahead.set(row.id, row);
    this.#store(this.#keys, row);
  }

  /**
   * Discards the changes of this daemon that are not in the replica. Called after an operator has discarded the changes that the primary
   * lacks.
   */
  forgetOwn(): void {
    this.#ahead.clear();
  }

  /** Loads all keys from the replica again. The caller must ensure that no process writes the replica meanwhile. */
  async load(reader: ReplicaReader): Promise<void> {
    const { revision } = reader.readPosition();
    const loaded = new KeyCache();
    for (let last = 0; ;) {
      const rows = reader.activeAfter(last, pageRows);
      for (const row of rows) this.#store(loaded, row);
      last = rows.at(-1)?.id ?? last;
      if (rows.length < pageRows) break;
      await turn();
    }
    for (const [id, own] of this.#ahead) if (own.revision > revision) carryOver(id, this.#keys, loaded);
    for (const [id, usedAt] of this.#keys.unwrittenUses()) loaded.markUsed(id, usedAt);
    this.#keys = loaded;
    this.#reached(revision);
  }

  /**
   * Applies new changes of the replica and returns the changes that other daemons made. The caller must ensure that no process writes the
   * replica meanwhile.
   */
  async catchUp(reader: ReplicaReader, ownInstance: string): Promise<ForeignChange[]> {
    const { revision } = reader.readPosition();
    const changes: ForeignChange[] = [];
    for (let after = { revision: this.#revision, id: greatestId }; ;) {
      const rows = reader.changedAfter(after.revision, after.id, pageRows);
      for (const row of rows) {
        const change = this.#apply(row);
        if (change && row.instance !== ownInstance) changes.push(change);
      }
      after = rows.at(-1) ?? after;
      if (rows.length < pageRows) break;
      await turn();
    }
    this.#reached(revision);
    return changes;
  }

  #reached(revision: number): void {
    this.#revision = revision;
    for (const [id, own] of this.#ahead) if (own.revision <= revision) this.#ahead.delete(id);
  }

  #apply(row: ReplicatedKeyRow): ForeignChange | undefined {
    if ((this.#ahead.get(row.id)?.revision ?? 0) > row.revision) return undefined;
    const before = this.#keys.find(row.id);
    this.#store(this.#keys, row);
    const type = changeBetween(before, this.#keys.find(row.id));
    return type && { type, id: row.id, name: row.name, namespaces: [...fromRow(row).namespaces] };
  }

  #store(keys: KeyCache, row: ReplicatedKeyRow): void {
    if (row.revoked_at !== null) keys.remove(row.id);
    else {
      const key = fromRow(row);
      const lastUsedAt = Math.max(key.lastUsedAt ?? 0, this.#keys.find(row.id)?.lastUsedAt ?? 0);
      keys.put(row.hash, { ...key, lastUsedAt: lastUsedAt === 0 ? undefined : lastUsedAt });
    }
  }
}

function carryOver(id: number, from: KeyCache, to: KeyCache): void {
  const key = from.find(id);
  const hash = from.hashOf(id);
  if (key && hash !== undefined) to.put(hash, key);
  else to.remove(id);
}

function changeBetween(before: StoredKey | undefined, after: StoredKey | undefined): ForeignChange["type"] | undefined {
  if (!before) return after && "key.created";
  if (!after) return "key.revoked";
  return before.expiresAt === after.expiresAt ? undefined : "key.rotated";
}
