import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** The content of the file: the place of each name in the part of the user range that is reserved for names. */
type Places = Record<string, number>;

/**
 * Gives each worker name a user of its own and keeps it over restarts. A hash of the name chooses the first place, so workers keep their
 * files when the file is lost. The file separates names with equal hashes: authors choose names, and could choose a hash.
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

  /** Returns a place from 0 to `count` - 1. When other names have all places, names share the place of their hash. */
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

  /** Ignores a failed write, such as on a full disk: workers start, and the places last until the daemon ends. */
  #save(): void {
    if (this.#file === undefined) return;
    const unfinished = `${this.#file}.unfinished`;
    try {
      writeFileSync(unfinished, JSON.stringify(Object.fromEntries(this.#places)), { mode: 0o600 });
      renameSync(unfinished, this.#file);
    } catch {
      // The doc comment gives the reason.
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
