import { ChangeSignal } from "../../../shared/change-signal.js";
import { EntryRing } from "./entry-ring.js";

/** The newest entries of one worker, in two rings: many requests cannot displace the worker's output. */
export class WorkerLog {
  /** Output of the worker and messages of the daemon. */
  readonly output = new EntryRing();
  readonly requests = new EntryRing();
  readonly rings: readonly EntryRing[] = [this.output, this.requests];
  readonly changes = new ChangeSignal();
  /** Entries with lower ids were never in this object. */
  readonly createdId: number;
  /** Number of followers that use this object. */
  followerCount = 0;
  /** The worker was deleted; no entry follows. */
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
