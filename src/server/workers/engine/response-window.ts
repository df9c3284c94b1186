import { creditWindowBytes } from "../protocol/frames.js";
import type { PacedWorker, BandwidthShare } from "./bandwidth-scheduler.js";

/** Body bytes of one answer that its isolate may still send: as many as its client, and whoever shares the machine, let through. */
export class ResponseWindow {
  readonly #lane: BandwidthShare;
  #leftBytes = creditWindowBytes;
  /** Taken by the client, and not given back yet. */
  #owedBytes = 0;

  /** `onCredit` gives bytes back to the isolate. */
  constructor({ pace, meter }: PacedWorker, onCredit: (bytes: number) => void) {
    this.#lane = pace.lane(meter, (bytes) => {
      this.#leftBytes += bytes;
      onCredit(bytes);
    });
  }

  /** Something else than the isolate is waited for. */
  get isHeld(): boolean {
    return this.#lane.waitingBytes > 0;
  }

  /** False when it sent more than it may. */
  take(bytes: number): boolean {
    this.#leftBytes -= bytes;
    this.#owedBytes += bytes;
    return this.#leftBytes >= 0;
  }

  /** The client takes more. */
  open(): void {
    if (this.#owedBytes < creditWindowBytes / 2) return;
    const bytes = this.#owedBytes;
    this.#owedBytes = 0;
    this.#lane.ask(bytes);
  }

  close(): void {
    this.#lane.close();
  }
}
