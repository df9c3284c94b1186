import headless, { type Terminal } from "@xterm/headless";

const defaultWaitTimeoutMs = 5000;
/** Time without a change after which a screen is complete. A program draws a frame with several writes, and often several frames. */
const settledAfterMs = 400;

export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  /** Whether a line feed also moves the cursor to the first column, as in a terminal device. */
  readonly convertsLineFeeds?: boolean;
  /** Time limit of `waitFor`; 5 s by default. */
  readonly waitTimeoutMs?: number;
}

/** A virtual terminal, which parses the output of a program and returns the visible text. */
export class VirtualScreen {
  readonly #terminal: Terminal;
  readonly #waitTimeoutMs: number;
  readonly #listeners = new Set<() => void>();
  #written = "";

  constructor({ columns, rows, convertsLineFeeds = false, waitTimeoutMs = defaultWaitTimeoutMs }: ScreenOptions) {
    this.#waitTimeoutMs = waitTimeoutMs;
    this.#terminal = new headless.Terminal({
      cols: columns,
      rows,
      allowProposedApi: true,
      scrollback: 500,
      convertEol: convertsLineFeeds,
    });
  }

  write(output: string | Uint8Array): void {
    this.#written += typeof output === "string" ? output : Buffer.from(output).toString();
    this.#terminal.write(output, () => this.changed());
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** Returns the lines on the screen without trailing blanks. */
  text(): string {
    const { active } = this.#terminal.buffer;
    const lines = Array.from(
      { length: this.#terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    );
    return lines.join("\n").trimEnd();
  }

  /** Returns all text of the terminal, on both screens and in the scrollback. */
  remembered(): string {
    const { normal, alternate } = this.#terminal.buffer;
    return [normal, alternate]
      .flatMap((buffer) => Array.from({ length: buffer.length }, (_, row) => buffer.getLine(row)?.translateToString(true) ?? ""))
      .join("\n");
  }

  /** Returns all output, with escape sequences. */
  written(): string {
    return this.#written;
  }

  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  get isPasteMarked(): boolean {
    return this.#terminal.modes.bracketedPasteMode;
  }

  /** Resolves when all output so far is on the screen. */
  async drained(): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write("", resolve));
  }

  /** Waits until the screen shows the text. After the time limit, rejects with the text on the screen. */
  async waitFor(expected: string | RegExp | (() => boolean)): Promise<void> {
    const isShown = () =>
      typeof expected === "function"
        ? expected()
        : typeof expected === "string"
          ? this.text().includes(expected)
          : expected.test(this.text());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = () => {
      if (isShown()) resolve();
    };
    const timer = setTimeout(
      () => reject(new Error(`not shown within ${this.#waitTimeoutMs} ms: ${String(expected)}\n${this.text()}`)),
      this.#waitTimeoutMs,
    );
    this.#listeners.add(check);
    check();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#listeners.delete(check);
    }
  }

  /** Waits until the screen shows the same text for 400 ms. After the time limit, rejects with the text on the screen. */
  async settled(): Promise<void> {
    let text = this.text();
    let sinceMs = performance.now();
    const timer = setInterval(() => this.changed(), settledAfterMs / 4);
    try {
      await this.waitFor(() => {
        if (this.text() !== text) {
          text = this.text();
          sinceMs = performance.now();
        }
        return performance.now() - sinceMs >= settledAfterMs;
      });
    } finally {
      clearInterval(timer);
    }
  }

  /** Lets all waiting tests check the screen again. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  dispose(): void {
    this.#terminal.dispose();
  }
}
