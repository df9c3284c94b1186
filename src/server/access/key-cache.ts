import type { StoredKey } from "./key-store.js";

/**
 * All keys of the key store in memory, by hash and by id. Also holds the times of last use that the daemon has not written to the database
 * yet.
 */
export class KeyCache {
  readonly #byHash = new Map<string, StoredKey>();
  readonly #hashById = new Map<number, string>();
  readonly #unwrittenUses = new Map<number, number>();

  get size(): number {
    return this.#byHash.size;
  }

  findByHash(hash: string): StoredKey | undefined {
    return this.#byHash.get(hash);
  }

  find(id: number): StoredKey | undefined {
    const hash = this.#hashById.get(id);
    return hash === undefined ? undefined : this.#byHash.get(hash);
  }

  hashOf(id: number): string | undefined {
    return this.#hashById.get(id);
  }

  /** Returns all keys, oldest first. */
  list(): StoredKey[] {
    return [...this.#byHash.values()].toSorted((a, b) => a.id - b.id);
  }

  put(hash: string, key: StoredKey): void {
    this.#byHash.set(hash, key);
    this.#hashById.set(key.id, hash);
  }

  remove(id: number): void {
    const hash = this.#hashById.get(id);
    if (hash !== undefined) this.#byHash.delete(hash);
    this.#hashById.delete(id);
    this.#unwrittenUses.delete(id);
  }

  /** Records that a key was used at `now` (Unix seconds). */
  markUsed(id: number, now: number): void {
    const hash = this.#hashById.get(id);
    const key = this.find(id);
    if (hash === undefined || !key || key.lastUsedAt === now) return;
    this.#byHash.set(hash, { ...key, lastUsedAt: now });
    this.#unwrittenUses.set(id, now);
  }

  /** Returns the ids and the times of last use that are not in the database yet. */
  unwrittenUses(): [id: number, usedAt: number][] {
    return [...this.#unwrittenUses];
  }

  /**
   * Discards the times of last use that the daemon has written to the database. If a key was used again meanwhile, keeps the later time.
   */
  forgetUses(written: readonly (readonly [id: number, usedAt: number])[]): void {
    for (const [id, usedAt] of written) if (this.#unwrittenUses.get(id) === usedAt) this.#unwrittenUses.delete(id);
  }
}
