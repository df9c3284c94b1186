import { ChangeSignal } from "../../../shared/change-signal.js";
import { EntryRing } from "./entry-ring.js";

/** The newest log entries of one worker in memory, in two ring buffers, so that many requests cannot displace the worker's output. */
export class WorkerLog {
  /** Entries with output of the worker and messages of the daemon. */
  readonly output = new EntryRing();
  readonly requests = new EntryRing();
  readonly rings: readonly EntryRing[] = [this.output, this.requests];
  readonly changes = new ChangeSignal();
  /** Lowest id that this object can contain. Entries with lower ids were written before the object was created. */
  readonly createdId: number;
  /** Number of readers that currently follow this log. */
  followerCount = 0;
  /** True after the worker was deleted, so that no further entry is added. */
  isForgotten = false;

  constructor(createdId: number) {
    this.createdId = createdId;
  }

  get sizeBytes(): number {
    return this.output.sizeBytes + this.requests.sizeBytes;
  }

  get isEmpty(): boolean {
    return this.output.entryCount + this.requests.entryCount === 0;
  }

  clear(): void {
    for (const ring of this.rings) ring.clear();
  }
}
