const slotBits = 14;
const slots = 2 ** slotBits;
const slotMask = slots - 1;
const generations = 2 ** (32 - slotBits);

/**
 * What is under way on a channel, by the number of its exchange: the slot that it holds, and how often that slot was used before.
 * A Map that is added to and deleted from all the time would leave a trail of outgrown tables to the garbage collector, each of which
 * keeps alive what was in it.
 */
export class SlotMap<Item> {
  readonly #items: (Item | undefined)[] = [];
  readonly #numbers: number[] = [];
  readonly #free: number[] = [];
  #size = 0;

  /** How many are under way. */
  get size(): number {
    return this.#size;
  }

  /** Finds a number for something new; it is never 0. Throws when thousands are under way. */
  add(item: Item): number {
    const slot = this.#free.pop() ?? this.#items.length;
    if (slot >= slots) throw new Error("Too many exchanges are under way on one channel.");
    const generation = ((this.#numbers[slot] ?? 0) >>> slotBits) + 1;
    const number = (generation === generations ? 1 : generation) * slots + slot;
    this.set(number, item);
    return number;
  }

  /** Replaces what has this number, or takes over a number that the other side has found. */
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

  /** Frees a number that was given out here; it may not be freed twice. */
  delete(number: number): void {
    this.clear(number);
    this.#free.push(number & slotMask);
  }

  /** Forgets what has a number of the other side. */
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
