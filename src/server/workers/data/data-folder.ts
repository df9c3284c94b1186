import type { DiskUsage } from "./disk-usage.js";

/**
 * Share of the limit at which a full data folder becomes writable again. With a share of 1, a worker that writes and deletes one file at
 * the limit would cause the daemon to replace its isolates twice.
 */
const writableAgainShare = 0.95;

/** The properties and functions of an isolate that the storage uses. */
export interface StoringIsolate {
  readonly pid: number;
  readonly exited: Promise<void>;
  /** Accepts no new calls, completes the running calls, then stops the isolate. */
  drain(): void;
  kill(reason: string): void;
}

/**
 * Access of an isolate to the data folder of its worker. With `remove`, the isolate can only read and delete, because the folder is full.
 */
export interface DataGrant {
  readonly folder: string;
  readonly access: "write" | "remove";
  /** Maximum size of a file that the isolate writes. */
  readonly largestFileBytes: number;
}

/** Registration of an isolate that uses a data folder. The isolate is starting or running. */
export interface DataLease {
  readonly data: DataFolder;
  readonly grant: DataGrant;
  isolate: StoringIsolate | undefined;
  /**
   * True if the isolate has loaded its code. The daemon drains an isolate only after this point, because requests that wait for the isolate
   * would otherwise fail.
   */
  isLoaded: boolean;
}

/** State of the data folder of one worker: the isolates that use the folder, and whether the folder is full. */
export class DataFolder {
  readonly name: string;
  readonly folder: string;
  /** Size limit of the folder, from the manifest of the version whose isolate started last. */
  limitBytes = Infinity;
  usage: DiskUsage | undefined;
  #measuredMs = -Infinity;
  #isFull = false;
  readonly #leases = new Set<DataLease>();
  #pause: { readonly ended: Promise<void>; readonly onReleased: () => void } | undefined;

  constructor(name: string, folder: string) {
    this.name = name;
    this.folder = folder;
  }

  /** True after the usage has exceeded the limit, until the usage is at most 95 % of the limit. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get isInUse(): boolean {
    return this.#leases.size > 0;
  }

  /** Isolates that use the folder. Includes isolates that still load their code. */
  get isolates(): StoringIsolate[] {
    return [...this.#leases].flatMap(({ isolate }) => isolate ?? []);
  }

  /** Isolates that can write to the folder. These isolates started while the folder was not full. */
  get writers(): StoringIsolate[] {
    return [...this.#leases].flatMap(({ isolate, grant }) => (isolate && grant.access === "write" ? [isolate] : []));
  }

  isMeasuredSince(timeMs: number): boolean {
    return this.#measuredMs >= timeMs;
  }

  /** Records the measured usage. Returns whether the folder has become full or writable again. */
  note(usage: DiskUsage, nowMs: number): boolean {
    this.usage = usage;
    this.#measuredMs = nowMs;
    const wasFull = this.#isFull;
    this.#isFull = usage.bytes > this.limitBytes * (wasFull ? writableAgainShare : 1);
    return this.#isFull !== wasFull;
  }

  /** Registers an isolate that will use the folder. While `pauseFor` runs its action, waits until the action ends. */
  async lease(): Promise<DataLease> {
    while (this.#pause) await this.#pause.ended;
    const { folder, limitBytes, usage } = this;
    const leftBytes = Math.max(0, limitBytes - (usage?.bytes ?? 0));
    const largestFileBytes = this.#isFull ? 0 : Math.min(limitBytes, (usage?.largestFileBytes ?? 0) + leftBytes);
    const lease: DataLease = {
      data: this,
      grant: { folder, access: this.#isFull ? "remove" : "write", largestFileBytes },
      isolate: undefined,
      isLoaded: false,
    };
    this.#leases.add(lease);
    return lease;
  }

  /** Records that the isolate of a lease has loaded its code. If `pauseFor` was called meanwhile, drains the isolate. */
  noteLoaded(lease: DataLease): void {
    lease.isLoaded = true;
    if (this.#pause) lease.isolate?.drain();
  }

  release(lease: DataLease): void {
    this.#leases.delete(lease);
    if (!this.isInUse) this.#pause?.onReleased();
  }

  /**
   * Runs `action` while no isolate uses the folder. First drains the isolates that use the folder, and kills the rest after `timeoutMs`.
   * New isolates wait until `action` ends.
   */
  async pauseFor<Result>(timeoutMs: number, action: () => Promise<Result>): Promise<Result> {
    while (this.#pause) await this.#pause.ended;
    const ended = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#pause = { ended: ended.promise, onReleased: released.resolve };
    const timer = setInterval(() => {
      for (const isolate of this.isolates) isolate.kill("its data folder is paused and the isolate did not stop in time");
    }, timeoutMs);
    try {
      for (const { isolate, isLoaded } of this.#leases) if (isLoaded) isolate?.drain();
      if (this.isInUse) await released.promise;
      return await action();
    } finally {
      clearInterval(timer);
      this.#pause = undefined;
      ended.resolve();
    }
  }
}
