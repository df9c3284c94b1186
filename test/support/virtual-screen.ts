import headless, { type Terminal } from "@xterm/headless";

const waitTimeoutMs = 5000;

/** A terminal without a window: takes what a program writes, and knows what a user would see. */
export class VirtualScreen {
  readonly #terminal: Terminal;
  readonly #listeners = new Set<() => void>();
  #written = "";

  constructor(columns: number, rows: number) {
    this.#terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 500, convertEol: true });
  }

  write(text: string): void {
    this.#written += text;
    this.#terminal.write(text, () => this.changed());
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** The lines on the screen, without the blanks at their ends. */
  text(): string {
    const { active } = this.#terminal.buffer;
    const lines = Array.from(
      { length: this.#terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    );
    return lines.join("\n").trimEnd();
  }

  /** All text that the terminal still holds, on both screens and scrolled out of sight. */
  remembered(): string {
    const { normal, alternate } = this.#terminal.buffer;
    return [normal, alternate]
      .flatMap((buffer) => Array.from({ length: buffer.length }, (_, row) => buffer.getLine(row)?.translateToString(true) ?? ""))
      .join("\n");
  }

  /** Everything that was written, with escape sequences. */
  written(): string {
    return this.#written;
  }

  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  get isPasteMarked(): boolean {
    return this.#terminal.modes.bracketedPasteMode;
  }

  /** Resolves when all that was written so far is on the screen. */
  async drained(): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write("", resolve));
  }

  /** Waits until the screen shows this; rejects after 5 s with the text it shows instead. */
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
      () => reject(new Error(`not shown within ${waitTimeoutMs} ms: ${String(expected)}\n${this.text()}`)),
      waitTimeoutMs,
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

  /** Has waiting tests look again. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
