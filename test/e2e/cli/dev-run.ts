import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, vi } from "vitest";
import { writeTree } from "../../support/write-tree.js";

const program = fileURLToPath(new URL("../../../bin/runtimectl.js", import.meta.url));

export interface DevEnd {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface DevRunOptions {
  /** Words of the command line after `dev`. The folder is always `app`. */
  readonly words?: string;
  /** Runs the command in a pseudo-terminal, whose output is read as stdout. */
  readonly inTerminal?: boolean;
  /** Callback that receives the folder before the command starts. */
  readonly prepare?: (folder: string) => Promise<void>;
}

/** A `runtimectl dev` process with a home and a temporary folder of its own, so that leftover files are found. */
export class DevRun {
  readonly home: string;
  readonly folder: string;
  readonly process: ChildProcess;
  readonly ended: Promise<DevEnd>;
  stdout = "";
  stderr = "";

  private constructor(home: string, child: ChildProcess) {
    this.home = home;
    this.folder = path.join(home, "app");
    this.process = child;
    child.stdout?.on("data", (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = new Promise((resolve) => child.once("close", (status, signal) => resolve({ status, signal })));
  }

  /** Starts a run that is disposed at the end of the running test. */
  static async forTest(files: Readonly<Record<string, string>>, options: DevRunOptions = {}): Promise<DevRun> {
    const run = await DevRun.start(files, options);
    onTestFinished(() => run.dispose());
    return run;
  }

  static async start(
    files: Readonly<Record<string, string>>,
    { words = "app --port 0", inTerminal = false, prepare }: DevRunOptions = {},
  ): Promise<DevRun> {
    const home = await mkdtemp(path.join(tmpdir(), "dev-run-"));
    await mkdir(path.join(home, "tmp"));
    await writeTree(path.join(home, "app"), files);
    await prepare?.(path.join(home, "app"));
    const line = [program, "dev", ...words.split(" ")];
    const [command, args] = inTerminal
      ? (["script", ["--quiet", "--return", "--flush", "--command", `exec ${process.execPath} ${line.join(" ")}`, "/dev/null"]] as const)
      : ([process.execPath, line] as const);
    const child = spawn(command, args, {
      cwd: home,
      env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: path.join(home, "tmp"), TERM: "xterm" },
    });
    return new DevRun(home, child);
  }

  /** Ends the process with SIGKILL and checks that it leaves no process and no file. */
  async dispose(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended;
    await this.seenToLeaveNothing();
    await rm(this.home, { recursive: true, force: true });
  }

  /** Resolves to the URL once the worker is served. */
  async url(): Promise<string> {
    await this.shows(/http:\S+\/\s/);
    return /http:\S+\//.exec(this.stdout)?.[0] ?? "";
  }

  async text(target = ""): Promise<string> {
    return (await fetch((await this.url()) + target)).text();
  }

  async shows(what: string | RegExp): Promise<void> {
    await expect.poll(() => this.stdout + this.stderr).toMatch(what);
  }

  /** Drops the output so far, except the URL on stdout. */
  forget(): void {
    this.stderr = "";
  }

  count(what: RegExp): number {
    return [...(this.stdout + this.stderr).matchAll(new RegExp(what, "g"))].length;
  }

  /** Replaces a file as editors do: write a new file, then rename it. */
  async save(file: string, content: string): Promise<void> {
    const aside = path.join(this.home, "aside");
    await writeFile(aside, content);
    await rename(aside, path.join(this.folder, file));
  }

  /** Command lines of the daemon and its isolates. They contain the path of the temporary folder, by which they are found. */
  async processes(): Promise<string[]> {
    return [...(await this.#commandLines()).values()];
  }

  async daemonPid(): Promise<number> {
    const [pid] = [...(await this.#commandLines())].find(([, line]) => line.includes("dev-daemon")) ?? [];
    if (pid === undefined) throw new Error("no daemon runs");
    return pid;
  }

  async #commandLines(): Promise<Map<number, string>> {
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
    const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
    const named = pids.map((pid, index) => [pid, (lines[index] ?? "").replaceAll("\0", " ")] as const);
    return new Map(named.filter(([, line]) => line.includes(`${this.home}/tmp`)));
  }

  async seenToLeaveNothing(): Promise<void> {
    await vi.waitFor(
      async () => {
        expect(await this.processes()).toEqual([]);
        expect(await readdir(path.join(this.home, "tmp"), { recursive: true })).toEqual([]);
      },
      { timeout: 15_000 },
    );
  }
}
