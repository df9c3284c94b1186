import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { runInProcess } from "../../support/run-in-process.js";
import { writeTree } from "../../support/write-tree.js";

const program = fileURLToPath(new URL("../../../bin/runtimectl.js", import.meta.url));

export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Expects exit code 0. */
export function succeeded(run: Run): Run {
  expect(run, run.stderr).toMatchObject({ status: 0 });
  return run;
}

interface BasicOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunOptions extends BasicOptions {
  /** Formats the output as on a terminal of 100 columns. The command must not prompt. */
  readonly isTerminal?: boolean;
}

export interface ProgramOptions extends BasicOptions {
  /** Called with the process once it runs. */
  readonly started?: (child: ChildProcess) => void;
}

/** A shell with a home folder of its own that runs commands one after the other. */
export class ShellSession {
  readonly home: string;

  private constructor(home: string) {
    this.home = home;
  }

  static async open(): Promise<ShellSession> {
    return new ShellSession(await mkdtemp(path.join(tmpdir(), "runtimectl-session-")));
  }

  /** Signs in to a daemon. The API key is stored in a file. */
  async signIn(daemon: { readonly url: string; readonly rootKey: string }): Promise<void> {
    await writeTree(this.home, { "root.key": daemon.rootKey });
    succeeded(await this.run(`auth login --url ${daemon.url} --key-file root.key`));
  }

  /** Runs a command line in the test's process, as in a pipe unless `isTerminal` is set. */
  run(words: string, { env, ...options }: RunOptions = {}): Promise<Run> {
    return runInProcess(split(words), { ...options, env: this.#environment(env), cwd: this.home });
  }

  /** Runs the real `runtimectl` in a pipe. Needed for tests of signals, of Node's own options, and of output while the command runs. */
  runProgram(words: string, options: ProgramOptions = {}): Promise<Run> {
    return this.#spawn(process.execPath, [program, ...split(words)], options);
  }

  /** Runs the real `runtimectl` in a pseudo-terminal. `stdout` contains all of its output. */
  runInTerminal(words: string, options: ProgramOptions = {}): Promise<Run> {
    const line = `stty cols 100; exec ${process.execPath} ${program} ${words}`;
    return this.#spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], options);
  }

  async close(): Promise<void> {
    // A program whose window was closed can still be writing its compile cache.
    await rm(this.home, { recursive: true, force: true, maxRetries: 10 });
  }

  /** Without color; tests of color enable it with an empty NO_COLOR. */
  #environment(added: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { PATH: process.env["PATH"] ?? "", HOME: this.home, TMPDIR: this.home, TERM: "xterm", NO_COLOR: "1", ...added };
  }

  #spawn(command: string, args: readonly string[], { input, env, started }: ProgramOptions): Promise<Run> {
    const child = spawn(command, args, { cwd: this.home, env: this.#environment(env) });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    if (input !== undefined || started === undefined) child.stdin.end(input ?? "");
    started?.(child);
    return new Promise((resolve) => child.once("close", (status) => resolve({ status, stdout, stderr })));
  }
}

/** Splits a command line at spaces. As in a shell, a word in single quotes can contain spaces. */
function split(words: string): string[] {
  return words.match(/'[^']*'|\S+/g)?.map((word) => (/^'.*'$/s.test(word) ? word.slice(1, -1) : word)) ?? [];
}
