import { ChangeSignal } from "../../../shared/change-signal.js";
import { EntryRing } from "./entry-ring.js";

/**
 * The newest log entries of one worker in memory. Requests have a separate ring buffer, so that they cannot displace the worker's output.
 */
export class WorkerLog {
  /** Entries with output of the worker and messages of the daemon. */
  readonly output = new EntryRing();
  readonly requests = new EntryRing();
  readonly rings: readonly EntryRing[] = [this.output, this.requests];
  readonly changes = new ChangeSignal();
  /** Lowest id that this log can contain. All lower ids are from before its creation. */
  readonly createdId: number;
  /** Number of readers that follow this log now. */
  followerCount = 0;
  /** True after the worker was deleted. No entry is then added. */
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
