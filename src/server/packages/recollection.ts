/** What was read of a folder, and the identity that the folder had then. */
export type Recollected<Value> = readonly [folder: string, identity: string, value: Value];

/** A look at a folder; `isSettled` = no later change can have the same identity. */
export interface FolderLook {
  readonly identity: string;
  readonly isSettled: boolean;
}

/** What was read of folders, for as long as they keep their identity. */
export class Recollection<Value> {
  readonly #onChange: () => void;
  /** From an earlier daemon. */
  readonly #before = new Map<string, Recollected<Value>>();
  /** What this one has looked at. */
  readonly #current = new Map<string, Recollected<Value>>();

  constructor(before: Iterable<Recollected<Value>> | undefined, onChange: () => void) {
    for (const entry of before ?? []) this.#before.set(entry[0], entry);
    this.#onChange = onChange;
  }

  get current(): readonly Recollected<Value>[] {
    return [...this.#current.values()];
  }

  /** What is known of a folder that looks like this, else what `read` finds. */
  recall<Found extends Value | undefined>(folder: string, { identity, isSettled }: FolderLook, read: () => Found): Value | Found {
    const entry = this.#current.get(folder) ?? this.#before.get(folder);
    if (entry?.[1] === identity) {
      this.#current.set(folder, entry);
      return entry[2];
    }
    const found = read();
    if (found !== undefined && isSettled) this.#current.set(folder, [folder, identity, found]);
    else this.#current.delete(folder);
    this.#onChange();
    return found;
  }

  forget(folder: string): void {
    if (this.#current.delete(folder)) this.#onChange();
  }
}
