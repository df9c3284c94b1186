import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { VirtualScreen } from "./virtual-screen.js";

/** Time limit for a change of the screen. A change takes about 200 ms, but several seconds on a slow machine. */
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
  ctrlS: "\u0013",
  ctrlZ: "\u001a",
} as const;

/** A program in a real pseudo-terminal, with a virtual screen that shows the text of a user's window. */
export class TerminalWindow {
  readonly process: ChildProcess;
  /** Resolves with the exit code when the program has ended and its output is drawn. */
  readonly ended: Promise<number | null>;
  readonly #screen: VirtualScreen;
  readonly #directory: string;

  private constructor(child: ChildProcess, screen: VirtualScreen, directory: string) {
    this.process = child;
    this.#screen = screen;
    this.#directory = directory;
    child.stdout?.on("data", (chunk: Buffer) => screen.write(chunk));
    this.ended = once(child, "close").then(async ([code]) => {
      await screen.drained();
      screen.changed();
      return code as number | null;
    });
  }

  /** Runs a shell command line in a window of this size. */
  static async open(line: string, { columns, rows, cwd, env }: WindowOptions): Promise<TerminalWindow> {
    const directory = await mkdtemp(path.join(tmpdir(), "runtimectl-window-"));
    const prepared = `stty rows ${rows} cols ${columns}; tty > ${directory}/tty; ${line}`;
    // A killed test run closes no window, so `script` must end with its parent.
    const script = ["--pdeathsig", "KILL", "script", "--quiet", "--return", "--flush", "--command", prepared, "/dev/null"];
    const child = spawn("setpriv", script, {
      cwd,
      env: { PATH: process.env["PATH"] ?? "", HOME: cwd, TMPDIR: cwd, TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    });
    return new TerminalWindow(child, new VirtualScreen({ columns, rows, waitTimeoutMs }), directory);
  }

  /** Returns the lines on the screen without trailing blanks. */
  text(): string {
    return this.#screen.text();
  }

  /** Returns all text of the terminal, on both screens and in the scrollback. */
  remembered(): string {
    return this.#screen.remembered();
  }

  /** Returns all output of the program, with escape sequences. */
  written(): string {
    return this.#screen.written();
  }

  get isAlternateScreen(): boolean {
    return this.#screen.isAlternate;
  }

  press(text: string): void {
    this.process.stdin?.write(text);
  }

  /** Pastes like a terminal that marks pasted text on request. */
  paste(text: string): void {
    this.press(this.#screen.isPasteMarked ? `\u001b[200~${text}\u001b[201~` : text);
  }

  /** Waits up to 20 s until the screen shows the text. Otherwise rejects with the text on the screen. */
  waitFor(expected: string | RegExp | (() => boolean)): Promise<void> {
    return this.#screen.waitFor(expected);
  }

  /** Waits until the screen shows the same text for 400 ms, and returns this text. */
  async settledText(): Promise<string> {
    await this.#screen.settled();
    return this.text();
  }

  /** Resizes the window like a user who drags its corner. */
  async resize(columns: number, rows: number): Promise<void> {
    const device = (await readFile(path.join(this.#directory, "tty"), "utf8")).trim();
    this.#screen.resize(columns, rows);
    await promisify(execFile)("stty", ["-F", device, "rows", String(rows), "cols", String(columns)]);
  }

  async close(): Promise<void> {
    if (this.process.exitCode === null) this.process.kill("SIGKILL");
    await this.ended;
    this.#screen.dispose();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
