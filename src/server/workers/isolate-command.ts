import path from "node:path";
import { compiledFile } from "../package-root.js";
import { findSystemTool } from "./system-tool.js";

/** Heap outside of the old generation, thread stacks, code: what a process needs beyond the app's memory. */
const overheadBytes = 192 * 1024 * 1024;

/** How isolates are started on this machine. Tools that it lacks are left out; what they would add is lost, nothing else. */
export class IsolateCommand {
  readonly #prefix: readonly string[];
  readonly #prlimit: string | undefined;
  readonly #flags: readonly string[];
  readonly #program = compiledFile("server/workers/isolate/main.js");

  constructor() {
    const setpriv = findSystemTool("setpriv");
    this.#prlimit = findSystemTool("prlimit");
    // An isolate must not outlive a daemon that was killed, whatever the app in it does.
    this.#prefix = setpriv ? [setpriv, "--pdeathsig", "KILL", "--no-new-privs", "--"] : [];
    const flags = process.allowedNodeEnvironmentFlags;
    this.#flags = [
      flags.has("--permission") ? "--permission" : "--experimental-permission",
      ...(flags.has("--allow-net") ? ["--allow-net"] : []),
      "--preserve-symlinks",
      "--preserve-symlinks-main",
      "--disable-warning=ExperimentalWarning",
      "--disable-warning=SecurityWarning",
    ];
  }

  /** Command line of an isolate that may read `slot` and hold `memoryBytes` of heap, and about as much in buffers. */
  build(options: { slot: string; memoryBytes: number }): { file: string; args: string[] } {
    const limit = this.#prlimit ? [this.#prlimit, `--data=${options.memoryBytes * 2 + overheadBytes}`, "--core=0", "--"] : [];
    const node = [
      process.execPath,
      ...this.#flags,
      `--max-old-space-size=${Math.max(16, Math.floor(options.memoryBytes / 1024 / 1024))}`,
      `--allow-fs-read=${path.dirname(this.#program)}`,
      `--allow-fs-read=${options.slot}`,
      this.#program,
      options.slot,
    ];
    const [file, ...args] = [...this.#prefix, ...limit, ...node];
    return { file: file as string, args };
  }
}
