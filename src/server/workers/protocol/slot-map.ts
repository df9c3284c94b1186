const slotBits = 14;
const slots = 2 ** slotBits;
const slotMask = slots - 1;
const generations = 2 ** (32 - slotBits);

/**
 * Map of items by exchange number. The number combines the index of a slot with the number of its uses. A `Map` would leave old tables to
 * the garbage collector after many insertions and deletions.
 */
export class SlotMap<Item> {
  readonly #items: (Item | undefined)[] = [];
  readonly #numbers: number[] = [];
  readonly #free: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an item and returns its exchange number, which is never 0. Throws if all 16,384 slots are in use. */
  add(item: Item): number {
    const slot = this.#free.pop() ?? this.#items.length;
    if (slot >= slots) throw new Error("the channel has too many concurrent exchanges");
    const generation = ((this.#numbers[slot] ?? 0) >>> slotBits) + 1;
    const number = (generation === generations ? 1 : generation) * slots + slot;
    this.set(number, item);
    return number;
  }

  /** Stores an item under an exchange number that the other side of the channel can have assigned. */
  set(number: number, item: Item): void {
    const slot = number & slotMask;
    while (this.#items.length <= slot) {
      this.#items.push(undefined);
      this.#numbers.push(0);
    }
    if (this.#items[slot] === undefined) this.#size += 1;
    this.#items[slot] = item;
    this.#numbers[slot] = number;
  }

  get(number: number): Item | undefined {
    const slot = number & slotMask;
    return this.#numbers[slot] === number ? this.#items[slot] : undefined;
  }

  /** Deletes the item of an exchange number that `add` returned, and frees its slot. Call it once per number. */
  delete(number: number): void {
    this.clear(number);
    this.#free.push(number & slotMask);
  }

  /** Deletes the item of an exchange number that the other side of the channel assigned. */
  clear(number: number): void {
    const slot = number & slotMask;
    if (this.#numbers[slot] !== number || this.#items[slot] === undefined) return;
    this.#items[slot] = undefined;
    this.#size -= 1;
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (const item of this.#items) if (item !== undefined) yield item;
  }
}
