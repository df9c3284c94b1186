import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { archiveIsWhole } from "./unpack-job.js";

/** How much of the archive is there, while it is read. */
export class Arrival {
  #sizeBytes = 0;
  readonly #waiting = new Set<() => void>();

  /** As the daemon tells it, see `archiveIsWhole`. */
  static toldBy(input: Readable): Arrival {
    const arrival = new Arrival();
    createInterface({ input }).on("line", (line) => arrival.tell(line === archiveIsWhole ? Infinity : Number(line)));
    return arrival;
  }

  /** So many bytes are there; Infinity = all. */
  tell(sizeBytes: number): void {
    this.#sizeBytes = sizeBytes;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Waits until so many bytes are there, or all. */
  async reach(sizeBytes: number): Promise<void> {
    while (this.#sizeBytes < sizeBytes) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
