import type { ProcessSample } from "./process-sampler.js";

/** CPU time of a worker across the isolates that come and go: what one used after it was last looked at is lost with it. */
export class CpuAccount {
  #endedSeconds = 0;
  readonly #running = new Map<number, ProcessSample>();

  /** Takes note of the processes that run, of which some may not have been sampled; returns the time of all there ever were. */
  update(pids: readonly number[], samples: ReadonlyMap<number, ProcessSample>): number {
    for (const [pid, { identity, cpuSeconds }] of this.#running) {
      if (pids.includes(pid) && (samples.get(pid)?.identity ?? identity) === identity) continue;
      this.#endedSeconds += cpuSeconds;
      this.#running.delete(pid);
    }
    for (const pid of pids) {
      const sample = samples.get(pid);
      // Of two who look at the same time the later one may bring the older sample.
      if (sample && sample.cpuSeconds >= (this.#running.get(pid)?.cpuSeconds ?? 0)) this.#running.set(pid, sample);
    }
    let seconds = this.#endedSeconds;
    for (const { cpuSeconds } of this.#running.values()) seconds += cpuSeconds;
    return seconds;
  }
}
