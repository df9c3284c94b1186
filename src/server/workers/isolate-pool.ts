import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { Log } from "../observe/log.js";
import { IsolateCommand } from "./isolate-command.js";
import { IsolateProcess } from "./isolate-process.js";
import { SlotFolder } from "./slot-folder.js";

/** Isolates without an app that wait for one, so that a first request costs an import and not a process. */
const blankTarget = 1;

interface Waiter {
  readonly memoryBytes: number;
  isWanted(): boolean;
  resolve(isolate: Promise<IsolateProcess>): void;
  reject(error: ApiError): void;
}

/** All isolates of the daemon: at most `size` with an app, and a blank one kept warm. */
export class IsolatePool {
  readonly #size: number;
  readonly #blankMemoryBytes: number;
  readonly #directory: string;
  readonly #log: Log;
  readonly #command = new IsolateCommand();
  readonly #directoryReady: Promise<void>;
  readonly #blanks: Promise<IsolateProcess>[] = [];
  /** With an app, or about to get one. */
  readonly #taken = new Set<IsolateProcess>();
  #starting = 0;
  readonly #waiters: Waiter[] = [];
  #slots = 0;
  #isClosed = false;

  constructor(options: { size: number; blankMemoryBytes: number; directory: string; log: Log }) {
    this.#size = Math.max(1, options.size);
    this.#blankMemoryBytes = options.blankMemoryBytes;
    this.#directory = options.directory;
    this.#log = options.log;
    this.#directoryReady = emptyDirectory(this.#directory);
    this.#refill();
  }

  /** A blank isolate; waits while the pool is full and none of its isolates is idle, and only as long as it `isWanted`. */
  acquire(memoryBytes: number, isWanted: () => boolean): Promise<IsolateProcess> {
    if (this.#isClosed) return Promise.reject(closing());
    if (this.#makeRoom(this.#waiters.length + 1) && this.#waiters.length === 0) return this.#take(memoryBytes);
    return new Promise((resolve, reject) => this.#waiters.push({ memoryBytes, isWanted, resolve, reject }));
  }

  /** An isolate has nothing to do: somebody may be waiting for a place. */
  noteIdle(): void {
    if (this.#waiters.length > 0) this.#makeRoom(this.#waiters.length);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(closing());
    const blanks = await Promise.allSettled(this.#blanks);
    const isolates = [...this.#taken, ...blanks.flatMap((blank) => (blank.status === "fulfilled" ? [blank.value] : []))];
    await Promise.all(isolates.map((isolate) => isolate.terminate()));
    await this.#directoryReady.catch(() => undefined);
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** True when one more isolate may start; else the longest idle ones are asked to go, as many as `wanted` places need. */
  #makeRoom(wanted: number): boolean {
    if (this.#taken.size + this.#starting < this.#size) return true;
    const leaving = [...this.#taken].filter((isolate) => isolate.isLeaving).length;
    if (leaving >= wanted) return false;
    const idle = [...this.#taken].filter((isolate) => isolate.isEvictable);
    const longestIdleFirst = idle.toSorted((a, b) => a.lastUsedMs - b.lastUsedMs);
    for (const isolate of longestIdleFirst.slice(0, wanted - leaving)) isolate.drain();
    return false;
  }

  async #take(memoryBytes: number): Promise<IsolateProcess> {
    this.#starting += 1;
    try {
      const blank = memoryBytes === this.#blankMemoryBytes ? this.#blanks.shift() : undefined;
      const isolate = await (blank ?? this.#spawn(memoryBytes));
      // A blank can die while it waits, for instance when memory was short.
      const usable = isolate.hasExited ? await this.#spawn(memoryBytes) : isolate;
      this.#taken.add(usable);
      void usable.exited.then(() => this.#onExit(usable));
      return usable;
    } finally {
      this.#starting -= 1;
      this.#refill();
      if (this.#waiters.length > 0) this.#serveWaiters();
    }
  }

  #onExit(isolate: IsolateProcess): void {
    this.#taken.delete(isolate);
    this.#serveWaiters();
  }

  #serveWaiters(): void {
    while (this.#waiters.length > 0 && this.#makeRoom(this.#waiters.length)) {
      const waiter = this.#waiters.shift() as Waiter;
      if (waiter.isWanted()) waiter.resolve(this.#take(waiter.memoryBytes));
      else waiter.reject(new ApiError("WORKER_POOL_SATURATED", "Nobody waits for this isolate any more.", { retryAfterSeconds: 1 }));
    }
  }

  #refill(): void {
    while (!this.#isClosed && this.#blanks.length < blankTarget) {
      const blank = this.#spawn(this.#blankMemoryBytes);
      blank.catch((error: unknown) => this.#log.error({ err: error }, "an isolate could not be started"));
      this.#blanks.push(blank);
    }
  }

  async #spawn(memoryBytes: number): Promise<IsolateProcess> {
    await this.#directoryReady;
    this.#slots += 1;
    const slot = await SlotFolder.create(path.join(this.#directory, String(this.#slots)));
    return new IsolateProcess({ command: this.#command, slot, memoryBytes });
  }
}

/** What an earlier daemon left behind belongs to nobody. */
async function emptyDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o700 });
}

function closing(): ApiError {
  return new ApiError("WORKER_UNAVAILABLE", "The daemon is stopping.", { retryAfterSeconds: 5 });
}
