import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { writeTree } from "../../support/write-tree.js";

const program = fileURLToPath(new URL("../../../bin/runtimectl.js", import.meta.url));

export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run that is expected to end well. */
export function succeeded(run: Run): Run {
  expect(run, run.stderr).toMatchObject({ status: 0 });
  return run;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the process once it runs. */
  readonly started?: (child: ChildProcess) => void;
}

/** A person at a shell: a home folder of their own, commands one after the other. */
export class ShellSession {
  readonly home: string;

  private constructor(home: string) {
    this.home = home;
  }

  static async open(): Promise<ShellSession> {
    return new ShellSession(await mkdtemp(path.join(tmpdir(), "runtimectl-session-")));
  }

  /** Signs in to a daemon; its key stays in a file. */
  async signIn(daemon: { readonly url: string; readonly rootKey: string }): Promise<void> {
    await writeTree(this.home, { "root.key": daemon.rootKey });
    succeeded(await this.run(`auth login --url ${daemon.url} --key-file root.key`));
  }

  /** `runtimectl` with these words, in a pipe. */
  run(words: string, options: RunOptions = {}): Promise<Run> {
    return this.#spawn(process.execPath, [program, ...words.split(" ").filter((word) => word !== "")], options);
  }

  /** The same in a pseudo-terminal; what it shows comes as stdout. */
  runInTerminal(words: string, options: RunOptions = {}): Promise<Run> {
    const line = `stty cols 100; exec ${process.execPath} ${program} ${words}`;
    return this.#spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], options);
  }

  async close(): Promise<void> {
    await rm(this.home, { recursive: true, force: true });
  }

  #spawn(command: string, args: readonly string[], { input, env, started }: RunOptions): Promise<Run> {
    const child = spawn(command, args, {
      cwd: this.home,
      env: { PATH: process.env["PATH"] ?? "", HOME: this.home, TMPDIR: this.home, TERM: "xterm", ...env },
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    if (input !== undefined || started === undefined) child.stdin.end(input ?? "");
    started?.(child);
    return new Promise((resolve) => child.once("close", (status) => resolve({ status, stdout, stderr })));
  }
}
