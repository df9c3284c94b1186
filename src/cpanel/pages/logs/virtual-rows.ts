import { Observable } from "../../live/observable.js";
import { RowLayout } from "./row-layout.js";
import type { LogRow } from "./log-row.js";

/** Height in pixels of the areas above and below the visible part in which rows are also rendered. */
const overscanPx = 400;
/**
 * Maximum distance in pixels between scroll position and end at which the box counts as scrolled to its end. On zoomed pages, scroll
 * positions are fractions of pixels.
 */
const endPx = 24;
/** Distance in pixels between scroll position and start below which the box requests older rows. */
const startPx = 600;

export interface VirtualWindow {
  /** Index of the first rendered row. */
  readonly first: number;
  /** Index after the last rendered row. */
  readonly last: number;
  /** Whether the box shows its end and scrolls to new rows. */
  readonly isAtEnd: boolean;
}

interface Elements {
  /** The box that scrolls. */
  readonly box: HTMLElement;
  /** The element with the height of all rows. */
  readonly canvas: HTMLElement;
  /** The list of the rendered rows, within the canvas. */
  readonly list: HTMLElement;
}

/**
 * Renders only the visible rows of a list with rows of different heights. Scrolls to new rows until the user scrolls up, then keeps the
 * first visible row in place. Only the user can scroll up, because the canvas has the height of all rows.
 */
export class VirtualRows {
  readonly window = new Observable<VirtualWindow>({ first: 0, last: 0, isAtEnd: true });
  readonly #layout = new RowLayout();
  readonly #onNearStart: () => void;
  #elements: Elements | undefined;
  #rows: readonly LogRow[] = [];
  /** Index of the first row in the list. */
  #renderedFirst = 0;
  #scrollTop = 0;
  #boxSize = { width: 0, height: 0 };
  /** The first visible row. The offset is the distance in pixels between the top of this row and the top of the box. */
  #anchor: { readonly row: LogRow; readonly offsetPx: number } | undefined;
  #isAtEnd = true;

  /** `onNearStart` runs when the user scrolls to the start. */
  constructor(onNearStart: () => void) {
    this.#onNearStart = onNearStart;
  }

  /** Returns a function that ends the observation of the elements. */
  attach(elements: Elements): () => void {
    this.#elements = elements;
    const { box, list } = elements;
    const onScroll = () => this.#onScroll();
    box.addEventListener("scroll", onScroll, { passive: true });
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(box);
    observer.observe(list);
    return () => {
      box.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }

  /** Measures the rendered rows and scrolls. Runs after each rendering, with the rows and the index of the first rendered row. */
  settle(rows: readonly LogRow[], renderedFirst: number): void {
    if (rows !== this.#rows) {
      this.#rows = rows;
      this.#layout.setRows(rows);
    }
    this.#renderedFirst = renderedFirst;
    this.#arrange();
  }

  /** Discards all measured heights, for example when the user changes the line wrapping. */
  forgetHeights(): void {
    this.#layout.forget();
    this.#arrange();
  }

  scrollToEnd(): void {
    this.#isAtEnd = true;
    this.#arrange();
  }

  /** Stops scrolling to new rows, for example while the user reads a row. */
  hold(): void {
    if (!this.#isAtEnd) return;
    this.#isAtEnd = false;
    this.#keepAnchor();
    this.#show();
  }

  /** Scrolls so that a row is visible. */
  reveal(key: string): void {
    const index = this.#rows.findIndex((row) => row.key === key);
    if (index === -1) return;
    const top = this.#layout.topPx(index);
    const bottom = this.#layout.topPx(index + 1);
    if (top < this.#scrollTop) this.#scrollTo(top);
    else if (bottom > this.#scrollTop + this.#boxSize.height) this.#scrollTo(bottom - this.#boxSize.height);
    this.#keepAnchor();
    this.#show();
  }

  #onScroll(): void {
    const { box } = this.#elements ?? {};
    if (!box) return;
    // If the height of the box changes, the browser scrolls the box before the observer reports the new height. The user did not scroll.
    if (box.clientHeight !== this.#boxSize.height) return;
    const top = box.scrollTop;
    const hasUserScrolledUp = top < this.#scrollTop - 2;
    if (this.#layout.totalPx - top - this.#boxSize.height < endPx) this.#isAtEnd = true;
    else if (hasUserScrolledUp) this.#isAtEnd = false;
    this.#scrollTop = top;
    this.#keepAnchor();
    this.#show();
    if (hasUserScrolledUp && top < startPx) this.#onNearStart();
  }

  #resize(): void {
    const { box } = this.#elements ?? {};
    if (!box) return;
    // If lines wrap, a new width of the box changes the heights of all rows.
    if (this.#boxSize.width !== 0 && box.clientWidth !== this.#boxSize.width) this.#layout.forget();
    this.#arrange();
  }

  #arrange(): void {
    if (!this.#elements) return;
    const { box, canvas, list } = this.#elements;
    this.#boxSize = { width: box.clientWidth, height: box.clientHeight };
    const heights = Array.from(list.children, (row) => row.getBoundingClientRect().height);
    this.#layout.measure(this.#renderedFirst, heights);
    canvas.style.height = `${this.#layout.totalPx}px`;
    list.style.transform = `translateY(${this.#layout.topPx(this.#renderedFirst)}px)`;
    if (this.#isAtEnd) this.#scrollTo(Math.max(0, this.#layout.totalPx - this.#boxSize.height));
    else if (this.#anchor) {
      const index = this.#layout.indexOf(this.#anchor.row);
      if (index !== -1) this.#scrollTo(this.#layout.topPx(index) - this.#anchor.offsetPx);
    }
    this.#show();
  }

  #scrollTo(top: number): void {
    const { box } = this.#elements ?? {};
    if (!box) return;
    if (Math.abs(top - box.scrollTop) >= 1) box.scrollTop = top;
    this.#scrollTop = box.scrollTop;
  }

  #keepAnchor(): void {
    const index = this.#layout.indexAt(this.#scrollTop);
    const row = this.#rows[index];
    this.#anchor = row && { row, offsetPx: this.#layout.topPx(index) - this.#scrollTop };
  }

  /** Selects the rows to render. */
  #show(): void {
    const first = this.#layout.indexAt(this.#scrollTop - overscanPx);
    const last = Math.min(this.#rows.length, this.#layout.indexAt(this.#scrollTop + this.#boxSize.height + overscanPx) + 1);
    const shown = this.window.get();
    if (shown.first !== first || shown.last !== last || shown.isAtEnd !== this.#isAtEnd)
      this.window.set({ first, last, isAtEnd: this.#isAtEnd });
  }
}
