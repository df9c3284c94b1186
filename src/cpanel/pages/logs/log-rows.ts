import { positionBefore } from "../../../shared/contract/entry-position.js";
import type { LogRow } from "./log-row.js";

/** Maximum number of rows in the browser. Older rows are dropped. */
const mostRows = 100_000;
/** Maximum number of characters of all rows. */
const mostCharacters = 16 * 1024 * 1024;
/** Maximum number of lines of all rows. Browsers limit the height of a page to 17 million pixels. */
const mostLines = 400_000;

/** The newest rows up to a limit, oldest first. */
export class LogRows {
  #rows: readonly LogRow[] = [];
  #characters = 0;
  #lines = 0;
  #isTrimmed = false;

  /** Whether older rows were dropped. */
  get isTrimmed(): boolean {
    return this.#isTrimmed;
  }

  get all(): readonly LogRow[] {
    return this.#rows;
  }

  /** Position before the entries, for the query parameter `before`. Undefined without entries. */
  get position(): string | undefined {
    return positionBefore(this.#rows.flatMap(({ entry }) => entry ?? []));
  }

  hasRoomFor(rows: number): boolean {
    return this.#rows.length + rows <= mostRows && this.#characters < mostCharacters / 2 && this.#lines < mostLines / 2;
  }

  /** Adds new rows. Inserts rows of several daemons by time, because these rows do not arrive in the order of their times. */
  append(added: readonly LogRow[]): void {
    if (added.length === 0) return;
    this.#count(added, 1);
    this.#rows = added.some(({ entry }) => entry?.instance !== undefined) ? mergedByTime(this.#rows, added) : [...this.#rows, ...added];
    this.#trim();
  }

  /** Adds older rows before the first row. */
  prepend(added: readonly LogRow[]): void {
    this.#count(added, 1);
    this.#rows = [...added, ...this.#rows];
    this.#trim();
  }

  /** Inserts events by time. If `holdOlder` is true, does not insert events that precede the first row, but returns them. */
  insertMarks(marks: readonly LogRow[], { holdOlder }: { holdOlder: boolean }): readonly LogRow[] {
    if (marks.length === 0) return [];
    const held: LogRow[] = [];
    const rows = [...this.#rows];
    for (const mark of marks) {
      // Searches from the end, because new events are near the end.
      let index = rows.length;
      while (index > 0 && (rows[index - 1]?.at ?? 0) > mark.at) index -= 1;
      if (index === 0 && holdOlder) held.push(mark);
      else rows.splice(index, 0, mark);
    }
    if (held.length < marks.length) this.#rows = rows;
    return held;
  }

  #trim(): void {
    let first = Math.max(0, this.#rows.length - mostRows);
    this.#count(this.#rows.slice(0, first), -1);
    while (first < this.#rows.length - 1 && (this.#characters > mostCharacters || this.#lines > mostLines)) {
      this.#count(this.#rows.slice(first, first + 1), -1);
      first += 1;
    }
    if (first === 0) return;
    this.#isTrimmed = true;
    this.#rows = this.#rows.slice(first);
  }

  #count(rows: readonly LogRow[], sign: 1 | -1): void {
    for (const { entry, lines } of rows) {
      this.#characters += sign * (entry?.text.length ?? 0);
      this.#lines += sign * lines;
    }
  }
}

/** Returns all rows, sorted by time. Sorts only the added rows and those existing rows that are newer than the oldest added row. */
function mergedByTime(rows: readonly LogRow[], added: readonly LogRow[]): readonly LogRow[] {
  const firstAt = added.reduce((at, row) => Math.min(at, row.at), Infinity);
  let start = rows.length;
  while (start > 0 && (rows[start - 1]?.at ?? 0) > firstAt) start -= 1;
  const tail = [...rows.slice(start), ...added];
  return [...rows.slice(0, start), ...tail.toSorted((one, other) => one.at - other.at)];
}
