import { fileURLToPath } from "node:url";
import { childrenOf, pssBytes, rssBytes } from "../support/memory.mjs";
import { cpuMs } from "../support/processor-time.mjs";

const program = fileURLToPath(new URL("daemon-process.mjs", import.meta.url));
const mostHeapMb = 12_000;
/** A small growth of the heap between two collections, so that many daemons fit into the memory of one machine. */
const heapGrowingPercent = 10;

/** A process with simulated daemons, as seen by the simulation. */
export class DaemonProcess {
  #child;
  #stage;
  #pending = new Map();
  #lastId = 0;

  constructor(stage, primaryUrl) {
    this.#stage = stage;
    this.#child = stage.spawn(
      process.execPath,
      ["--expose-gc", `--max-old-space-size=${mostHeapMb}`, `--heap-growing-percent=${heapGrowingPercent}`, program, primaryUrl],
      {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      },
    );
    this.#child.on("message", ({ id, result, problem }) => {
      const { resolve, reject } = this.#pending.get(id);
      this.#pending.delete(id);
      if (problem === undefined) resolve(result);
      else reject(new Error(problem));
    });
    this.#child.once("exit", (status, signal) => {
      for (const { reject } of this.#pending.values()) reject(new Error(`a process of daemons ended with ${status ?? signal}`));
    });
  }

  async call(command, options = {}) {
    this.#lastId += 1;
    const id = this.#lastId;
    return await new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#child.send({ id, command, ...options });
    });
  }

  async open(home) {
    return await this.call("open", { home });
  }

  /** Returns the processor time of the daemons and of their syncer processes in ms. */
  cpuMs() {
    return [this.#child.pid, ...childrenOf(this.#child.pid)].reduce((sum, pid) => sum + cpuMs(pid), 0);
  }

  /** Returns the memory of all daemons of this process together, in bytes. `syncerBytes` counts shared pages once. */
  async memory() {
    const { heapBytes } = await this.call("measureMemory");
    const syncerBytes = childrenOf(this.#child.pid).reduce((sum, pid) => sum + pssBytesOf(pid), 0);
    return { heapBytes, rssBytes: rssBytes(this.#child.pid), syncerBytes };
  }

  async end() {
    await this.call("close");
    await this.#stage.end(this.#child);
  }
}

/** Returns 0 for a process that has ended. A daemon ends a syncer that does not respond for 5 s, for example on a busy machine. */
function pssBytesOf(pid) {
  try {
    return pssBytes(pid);
  } catch {
    return 0;
  }
}
