import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { VirtualScreen } from "./virtual-screen.js";

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
    return new TerminalWindow(child, new VirtualScreen({ columns, rows, waitTimeoutMs }), directory);
  }

  /** The lines on the screen, without the blanks at their ends. */
  text(): string {
    return this.#screen.text();
  }

  /** All text that the terminal still holds, on both screens and scrolled out of sight. */
  remembered(): string {
    return this.#screen.remembered();
  }

  /** Everything that the program wrote, with escape sequences. */
  written(): string {
    return this.#screen.written();
  }

  get isAlternateScreen(): boolean {
    return this.#screen.isAlternate;
  }

  press(text: string): void {
    this.process.stdin?.write(text);
  }

  /** Pastes, as a terminal does that marks pasted text when it was asked to. */
  paste(text: string): void {
    this.press(this.#screen.isPasteMarked ? `\u001b[200~${text}\u001b[201~` : text);
  }

  /** Waits up to 20 s until the screen shows this; rejects with the text it shows instead. */
  waitFor(expected: string | RegExp | (() => boolean)): Promise<void> {
    return this.#screen.waitFor(expected);
  }

  /** Makes the window another size, as a person dragging its corner does. */
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
