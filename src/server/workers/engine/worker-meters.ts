import { WorkerMeter } from "./worker-meter.js";

/** The meters of all workers that were asked for something; one that never was costs nothing. */
export class WorkerMeters {
  readonly #meters = new Map<string, WorkerMeter>();
  /** Requests whose path means no installed worker. */
  unknownPathCount = 0;

  /** The meter of a version; without one, of requests to a worker of which no version answers. */
  of(name: string, version?: string): WorkerMeter {
    const key = `${name}\0${version ?? ""}`;
    let meter = this.#meters.get(key);
    if (!meter) {
      meter = new WorkerMeter(name, version);
      this.#meters.set(key, meter);
    }
    return meter;
  }

  /** Forgets what is not installed any more. */
  prune(isInstalled: (name: string, version: string | undefined) => boolean): void {
    for (const [key, { name, version }] of this.#meters) if (!isInstalled(name, version)) this.#meters.delete(key);
  }

  /** By name. */
  [Symbol.iterator](): Iterator<WorkerMeter> {
    return this.#meters.values();
  }
}
