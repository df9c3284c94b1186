import type { Isolate } from "../../shared/contract/isolates.js";
import type { WorkerIsolate } from "../workers/engine/version-handler.js";
import { ProcessSampler } from "./process-stats.js";

/** Reads the isolates of workers, with the memory and CPU time of their processes. */
export class IsolateReadings {
  readonly #engine: { isolates(): WorkerIsolate[] };
  readonly #sampler = new ProcessSampler();

  constructor(engine: { isolates(): WorkerIsolate[] }) {
    this.#engine = engine;
  }

  /** Returns the isolates of the workers for which `isWanted` returns true, sorted by worker, version and process id. */
  async list(isWanted: (worker: string) => boolean): Promise<Isolate[]> {
    const isolates = this.#engine.isolates().filter(({ worker }) => isWanted(worker));
    const samples = await this.#sampler.sample(isolates.map(({ pid }) => pid));
    // Omits isolates that have exited since the engine returned the list.
    const running = isolates.flatMap((isolate) => {
      const sample = samples.get(isolate.pid);
      if (!sample) return [];
      const { rssBytes, pssBytes = null, cpuSeconds } = sample;
      return [{ ...isolate, rssBytes, pssBytes, cpuSeconds }];
    });
    return running.toSorted(
      (one, other) => compare(one.worker, other.worker) || compare(one.version, other.version) || one.pid - other.pid,
    );
  }
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
