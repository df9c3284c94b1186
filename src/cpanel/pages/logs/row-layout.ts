import type { LogRow } from "./log-row.js";

/** Height of one line of text, in CSS pixels. Equals the line height in logs.css. */
const linePx = 20;
/** Height of the space around the text of a row, in CSS pixels. */
const rowPaddingPx = 4;

/**
 * Positions of rows with different heights, in CSS pixels. If a row was never visible, the layout assumes the height of its unwrapped
 * lines.
 */
export class RowLayout {
  #rows: readonly LogRow[] = [];
  /** Top of each row. The last element is the height of all rows together. */
  #tops = new Float64Array(1);

  get totalPx(): number {
    return this.#tops[this.#rows.length] ?? 0;
  }

  setRows(rows: readonly LogRow[]): void {
    this.#rows = rows;
    if (this.#tops.length < rows.length + 1) this.#tops = new Float64Array(2 * (rows.length + 1));
    this.#place(0);
  }

  /** Sets the heights of consecutive rows. */
  measure(first: number, heights: readonly number[]): void {
    let changedFrom: number | undefined;
    for (const [position, height] of heights.entries()) {
      const row = this.#rows[first + position];
      if (!row || Math.abs(row.heightPx - height) < 0.1) continue;
      row.heightPx = height;
      changedFrom ??= first + position;
    }
    if (changedFrom !== undefined) this.#place(changedFrom);
  }

  /** Discards the measured heights. */
  forget(): void {
    for (const row of this.#rows) row.heightPx = 0;
    this.#place(0);
  }

  /** Returns the top of the row with this index. If the index is the number of rows, returns the height of all rows. */
  topPx(index: number): number {
    return this.#tops[Math.min(index, this.#rows.length)] ?? 0;
  }

  /** Returns the index of the row at a position, or the index of the nearest row. */
  indexAt(px: number): number {
    let low = 0;
    let high = Math.max(0, this.#rows.length - 1);
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#tops[middle] ?? 0) <= px) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Returns the index of a row. Returns -1 if the row is not in the layout. */
  indexOf(row: LogRow): number {
    return this.#rows.indexOf(row);
  }

  #place(from: number): void {
    let top = this.#tops[from] ?? 0;
    if (from === 0) top = 0;
    for (let index = from; index < this.#rows.length; index += 1) {
      const { heightPx, lines } = this.#rows[index] as LogRow;
      this.#tops[index] = top;
      top += heightPx === 0 ? lines * linePx + rowPaddingPx : heightPx;
    }
    this.#tops[this.#rows.length] = top;
  }
}
