import { createHash } from "node:crypto";
import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** Places in the part of the range that is for names, by the name that has each; as the file holds it. */
type Places = Record<string, number>;

/**
 * Which user belongs to the name of a worker: the same one after a restart, and no other name's. A hash chooses the first place to try, so
 * that workers keep their files when the file is lost; the file keeps names apart whose hashes are alike, which their authors can choose.
 */
export class NamedUsers {
  readonly #file: string | undefined;
  readonly #salt: string;
  readonly #count: number;
  readonly #places: Map<string, number>;
  readonly #taken: Set<number>;

  /** `count` users; `salt` differs between daemons; without a `file` nothing outlives the process. */
  constructor({ file, salt, count }: { readonly file: string | undefined; readonly salt: string; readonly count: number }) {
    this.#file = file;
    this.#salt = salt;
    this.#count = count;
    this.#places = new Map(Object.entries(readPlaces(file)).filter(([, place]) => place < count));
    this.#taken = new Set(this.#places.values());
  }

  /** From 0 to `count` - 1. When all places belong to others, the one of the hash, which is shared then. */
  placeOf(name: string): number {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const first = createHash("sha256").update(`${this.#salt}\0${name}`).digest().readUInt32LE(0) % this.#count;
    for (let step = 0; step < this.#count; step += 1) {
      const place = (first + step) % this.#count;
      if (this.#taken.has(place)) continue;
      this.#places.set(name, place);
      this.#taken.add(place);
      this.#save();
      return place;
    }
    return first;
  }

  /** A full disk does not keep a worker from starting: the places hold until the daemon ends. */
  #save(): void {
    if (this.#file === undefined) return;
    const unfinished = `${this.#file}.unfinished`;
    try {
      writeFileSync(unfinished, JSON.stringify(Object.fromEntries(this.#places)), { mode: 0o600 });
      chmodSync(unfinished, 0o600);
      renameSync(unfinished, this.#file);
    } catch {
      // See above.
    }
  }
}

function readPlaces(file: string | undefined): Places {
  if (file === undefined) return {};
  try {
    const places = JSON.parse(readFileSync(file, "utf8")) as unknown;
    return isPlaces(places) ? places : {};
  } catch {
    return {};
  }
}

function isPlaces(value: unknown): value is Places {
  return typeof value === "object" && value !== null && Object.values(value).every((place) => Number.isSafeInteger(place) && place >= 0);
}
