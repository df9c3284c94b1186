import { loadavg } from "node:os";

const sampleEveryMs = 5_000;

/** The load average of the machine during a run. It includes the run itself and all other programs. */
export class MachineLoad {
  #samples = [loadavg()[0]];

  constructor() {
    setInterval(() => this.#samples.push(loadavg()[0]), sampleEveryMs).unref();
  }

  /** Describes the load for the header of a result file. */
  describe() {
    const [first] = this.#samples;
    const mean = this.#samples.reduce((sum, load) => sum + load, 0) / this.#samples.length;
    const highest = Math.max(...this.#samples);
    return `load average (1 min) ${first.toFixed(1)} before the run, ${mean.toFixed(1)} on average and ${highest.toFixed(1)} at most during it`;
  }
}
