import { Worker } from "node:worker_threads";
import { compiledFile } from "../../package-root.js";
import type { DiskUsage } from "./disk-usage.js";

export interface MeasureOrder {
  readonly id: number;
  readonly folder: string;
  readonly pids: readonly number[];
}

export interface Measured {
  readonly id: number;
  readonly usage: DiskUsage;
}

/** Measures disk usage in a worker thread, which starts at the first measurement. Measurements run one after the other. */
export class UsageMeter {
  #thread: Worker | undefined;
  #lastId = 0;
  readonly #pending = new Map<number, { resolve: (usage: DiskUsage) => void; reject: (error: unknown) => void }>();

  /** Runs `measureDiskUsage` in the thread. Rejects if the thread exits before it returns the result. */
  measure(folder: string, pids: readonly number[] = []): Promise<DiskUsage> {
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      this.#pending.set(id, { resolve, reject });
      this.#running().postMessage({ id, folder, pids } satisfies MeasureOrder);
    });
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #running(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(compiledFile("server/workers/data/measure/main.js"));
    thread.unref();
    thread.on("message", ({ id, usage }: Measured) => {
      this.#pending.get(id)?.resolve(usage);
      this.#pending.delete(id);
    });
    let problem: unknown = new Error("the thread that measures folders has ended");
    thread.on("error", (error) => (problem = error));
    thread.on("exit", () => {
      this.#thread = undefined;
      for (const { reject } of this.#pending.values()) reject(problem);
      this.#pending.clear();
    });
    return (this.#thread = thread);
  }
}
