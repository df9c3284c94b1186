import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import headless, { type Terminal } from "@xterm/headless";

/** A slow machine needs seconds for what takes 200 ms here. */
const waitTimeoutMs = 20_000;

export interface WindowOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Keys by the bytes that a terminal sends for them. */
export const keys = {
  enter: "\r",
  esc: "\u001b",
  tab: "\t",
  up: "\u001b[A",
  down: "\u001b[B",
  right: "\u001b[C",
  pageDown: "\u001b[6~",
  pageUp: "\u001b[5~",
  backspace: "\u007f",
  ctrlC: "\u0003",
  ctrlZ: "\u001a",
} as const;

/** A terminal window with a program in it: a real pseudo-terminal, and a terminal without a screen that knows what a person would see. */
export class TerminalWindow {
  readonly process: ChildProcess;
  /** With the exit code, when the program has ended and all it wrote is drawn. */
  readonly ended: Promise<number | null>;
  readonly #terminal: Terminal;
  readonly #directory: string;
  readonly #changed = new Set<() => void>();
  #written = "";

  private constructor(child: ChildProcess, terminal: Terminal, directory: string) {
    this.process = child;
    this.#terminal = terminal;
    this.#directory = directory;
    child.stdout?.on("data", (chunk: Buffer) => {
      this.#written += chunk.toString();
      terminal.write(chunk, () => this.#notify());
    });
    const drained = () => new Promise<void>((resolve) => terminal.write("", resolve));
    this.ended = once(child, "close").then(async ([code]) => {
      await drained();
      this.#notify();
      return code as number | null;
    });
  }

  /** Runs a shell's command line in a window of this size. */
  static async open(line: string, { columns, rows, cwd, env }: WindowOptions): Promise<TerminalWindow> {
    const directory = await mkdtemp(path.join(tmpdir(), "runtimectl-window-"));
    const prepared = `stty rows ${rows} cols ${columns}; tty > ${directory}/tty; ${line}`;
    // Nobody would close the window of a test run that is killed: `script` has no window to lose.
    const script = ["--pdeathsig", "KILL", "script", "--quiet", "--return", "--flush", "--command", prepared, "/dev/null"];
    const child = spawn("setpriv", script, {
      cwd,
      env: { PATH: process.env["PATH"] ?? "", HOME: cwd, TMPDIR: cwd, TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    });
    const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 500 });
    return new TerminalWindow(child, terminal, directory);
  }

  /** What a person sees: lines without the blanks at their ends. */
  text(): string {
    const { active } = this.#terminal.buffer;
    const lines = Array.from(
      { length: this.#terminal.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    );
    return lines.join("\n").trimEnd();
  }

  /** All that the terminal still knows: what was scrolled away, and the screen that is not shown, too. */
  remembered(): string {
    const { normal, alternate } = this.#terminal.buffer;
    return [normal, alternate]
      .flatMap((buffer) => Array.from({ length: buffer.length }, (_, row) => buffer.getLine(row)?.translateToString(true) ?? ""))
      .join("\n");
  }

  /** All bytes that the program wrote, as text. */
  written(): string {
    return this.#written;
  }

  get isAlternateScreen(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  press(text: string): void {
    this.process.stdin?.write(text);
  }

  /** Pastes, as a terminal does that marks pasted text when it was asked to. */
  paste(text: string): void {
    this.press(this.#terminal.modes.bracketedPasteMode ? `\u001b[200~${text}\u001b[201~` : text);
  }

  /** Waits until the window shows this; fails with what it shows instead. */
  async waitFor(expected: string | RegExp | (() => boolean)): Promise<void> {
    const isThere = () =>
      typeof expected === "function"
        ? expected()
        : typeof expected === "string"
          ? this.text().includes(expected)
          : expected.test(this.text());
    if (isThere()) return;
    await new Promise<void>((resolve, reject) => {
      const check = () => {
        if (isThere()) settle(resolve);
      };
      const timer = setTimeout(
        () => settle(() => reject(new Error(`not seen within ${waitTimeoutMs} ms: ${String(expected)}\n${this.text()}`))),
        waitTimeoutMs,
      );
      const settle = (end: () => void) => {
        clearTimeout(timer);
        this.#changed.delete(check);
        end();
      };
      this.#changed.add(check);
    });
  }

  /** Makes the window another size, as a person dragging its corner does. */
  async resize(columns: number, rows: number): Promise<void> {
    const device = (await readFile(path.join(this.#directory, "tty"), "utf8")).trim();
    this.#terminal.resize(columns, rows);
    await promisify(execFile)("stty", ["-F", device, "rows", String(rows), "cols", String(columns)]);
  }

  async close(): Promise<void> {
    if (this.process.exitCode === null) this.process.kill("SIGKILL");
    await this.ended;
    this.#terminal.dispose();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #notify(): void {
    for (const listener of this.#changed) listener();
  }
}
