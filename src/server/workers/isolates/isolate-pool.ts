import { ApiError } from "../../../shared/api-error.js";
import type { Log } from "../../log/log.js";
import { StandbyIsolates } from "./standby-isolates.js";
import { IsolateChild } from "./isolate-child.js";
import { IsolateCommand, type IsolateCommandOptions } from "./isolate-command.js";
import { IsolateProcess } from "./isolate-process.js";
import { SandboxAllocator, type QuartersOptions } from "./sandbox-allocator.js";
import type { WorkerNetwork } from "../../config/worker-network.js";
import { isolationLayers, type IsolationLayer } from "../sandbox/isolation-layers.js";
import type { DataGrant } from "../data/data-folder.js";
import type { KernelLayers } from "../sandbox/sandbox-policy.js";

/** A start that has waited this long gets the place of the isolate with the longest service, after that one has finished its calls. */
const patienceMs = 1000;

interface Waiter {
  readonly needs: IsolateNeeds;
  readonly sinceMs: number;
  isWanted(): boolean;
  resolve(place: Place): void;
  reject(error: ApiError): void;
}

/** Isolates by state: `used` have a worker, `starting` are about to get one. */
export interface PoolNumbers {
  readonly size: number;
  readonly used: number;
  readonly starting: number;
  readonly blank: number;
  /** Starts that wait for a place. */
  readonly waiting: number;
}

/** A place in the pool and the isolate that will use it. */
export interface Place {
  readonly isolate: Promise<IsolateProcess>;
}

interface IsolatePoolOptions extends QuartersOptions, IsolateCommandOptions {
  readonly size: number;
  readonly blankMemoryBytes: number;
  /** Network rules of standby isolates. */
  readonly blankNetwork: WorkerNetwork;
  readonly log: Log;
}

/** All isolates of the daemon: at most `size` with a worker, and some standby isolates. */
export class IsolatePool {
  readonly #size: number;
  readonly #command: IsolateCommand;
  readonly #quarters: SandboxAllocator;
  readonly #layers: Promise<KernelLayers>;
  readonly #blanks: StandbyIsolates;
  /** Isolates with a worker, or about to get one. */
  readonly #taken = new Set<IsolateProcess>();
  #starting = 0;
  readonly #waiters: Waiter[] = [];
  #patienceTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: IsolatePoolOptions) {
    this.#size = Math.max(1, options.size);
    this.#command = new IsolateCommand(options);
    this.#layers = options.layers;
    this.#quarters = new SandboxAllocator(options);
    const needs = { memoryBytes: options.blankMemoryBytes, permissions: [], network: options.blankNetwork, name: "" };
    this.#blanks = new StandbyIsolates({ needs, spawn: () => this.#spawn(needs), log: options.log });
  }

  get numbers(): PoolNumbers {
    return {
      size: this.#size,
      used: this.#taken.size,
      starting: this.#starting,
      blank: this.#blanks.count,
      waiting: this.#waiters.length,
    };
  }

  /** The isolation layers of worker processes. */
  async isolation(): Promise<IsolationLayer[]> {
    return isolationLayers(await this.#layers, await this.#quarters.ownUser());
  }

  /** Resolves when a standby isolate has responded; rejects when none can start. */
  probe(): Promise<void> {
    return this.#blanks.probe();
  }

  /** Acquires a place and an isolate for it. While the pool is full, waits as long as `isWanted` returns true. */
  acquire(needs: IsolateNeeds, isWanted: () => boolean): Promise<Place> {
    if (this.#isClosed) return Promise.reject(closing());
    if (this.#makeRoom(this.#waiters.length + 1) && this.#waiters.length === 0) return Promise.resolve(this.#place(needs));
    this.#patienceTimer ??= setInterval(this.#endPatience, patienceMs / 2).unref();
    return new Promise((resolve, reject) => this.#waiters.push({ needs, sinceMs: performance.now(), isWanted, resolve, reject }));
  }

  /** Called when an isolate becomes idle: it can make room for a waiting start. */
  noteIdle(): void {
    if (this.#waiters.length > 0) this.#makeRoom(this.#waiters.length);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#patienceTimer);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(closing());
    const isolates = [...this.#taken, ...(await this.#blanks.close())];
    await Promise.all(isolates.map((isolate) => isolate.terminate()));
    await this.#quarters.close();
  }

  /** Returns true when another isolate can start. Otherwise drains the longest idle isolates, as many as `wanted` places need. */
  #makeRoom(wanted: number): boolean {
    if (this.#taken.size + this.#starting < this.#size) return true;
    const leaving = [...this.#taken].filter((isolate) => isolate.isLeaving).length;
    if (leaving >= wanted) return false;
    const idle = [...this.#taken].filter((isolate) => isolate.isEvictable);
    const longestIdleFirst = idle.toSorted((a, b) => a.lastUsedMs - b.lastUsedMs);
    for (const isolate of longestIdleFirst.slice(0, wanted - leaving)) isolate.drain();
    return false;
  }

  /**
   * Drains the longest-serving isolates for starts that have waited too long: isolates that are never idle would block other workers
   * forever.
   */
  readonly #endPatience = (): void => {
    this.#dropUnwanted();
    const nowMs = performance.now();
    const impatient = this.#waiters.filter(({ sinceMs }) => nowMs - sinceMs >= patienceMs).length;
    const going = [...this.#taken].filter((isolate) => !isolate.isServing).length;
    const longestServingFirst = [...this.#taken]
      .filter((isolate) => isolate.isServing && nowMs - isolate.loadedMs >= patienceMs)
      .toSorted((a, b) => a.loadedMs - b.loadedMs);
    for (const isolate of longestServingFirst.slice(0, Math.max(0, impatient - going))) isolate.drain();
    if (this.#waiters.length > 0) return;
    clearInterval(this.#patienceTimer);
    this.#patienceTimer = undefined;
  };

  #dropUnwanted(): void {
    const unwanted = this.#waiters.filter((waiter) => !waiter.isWanted());
    for (const waiter of unwanted) this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    for (const waiter of unwanted) waiter.reject(nobodyWaits());
  }

  #place(needs: IsolateNeeds): Place {
    const isolate = this.#take(needs);
    // Prevents an unhandled rejection: the caller can await the isolate later.
    isolate.catch(() => undefined);
    return { isolate };
  }

  async #take(needs: IsolateNeeds): Promise<IsolateProcess> {
    this.#starting += 1;
    try {
      const isolate = (await this.#blanks.take(needs)) ?? (await this.#spawn(needs));
      this.#taken.add(isolate);
      void isolate.exited.then(() => this.#onExit(isolate));
      return isolate;
    } finally {
      this.#starting -= 1;
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
      if (waiter.isWanted()) waiter.resolve(this.#place(waiter.needs));
      else waiter.reject(nobodyWaits());
    }
  }

  async #spawn(needs: IsolateNeeds): Promise<IsolateProcess> {
    const quarter = await this.#quarters.give(needs);
    try {
      const { slot } = quarter;
      const child = await IsolateChild.start(await this.#command.build({ ...quarter, ...needs, slot: slot.path }), slot.path);
      const isolate = new IsolateProcess(child, { slot, memoryBytes: needs.memoryBytes, program: this.#command.programFolder });
      void isolate.exited.then(() => this.#quarters.takeBack(quarter, needs));
      return isolate;
    } catch (error) {
      void quarter.slot.remove().catch(() => undefined);
      void this.#quarters.takeBack(quarter, needs);
      throw error;
    }
  }
}

function nobodyWaits(): ApiError {
  return new ApiError("WORKER_POOL_SATURATED", "No request waits for this isolate.", { retryAfterSeconds: 1 });
}

function closing(): ApiError {
  return new ApiError("WORKER_UNAVAILABLE", "The daemon is stopping.", { retryAfterSeconds: 5 });
}

/** Requirements of a worker that a standby isolate may not meet. */
export interface IsolateNeeds {
  /** Limit of the heap; buffers get about the same again. */
  readonly memoryBytes: number;
  /** Permissions of the manifest; the operator allows all of them. */
  readonly permissions: readonly string[];
  /** Worker name. Isolates with access to files run as the user that belongs to this name. */
  readonly name: string;
  readonly network: WorkerNetwork;
  /** The worker's folder, if the isolate's file rules must name it; undefined for an isolate that reads only its slot. */
  readonly folder?: string | undefined;
  /** Access to the worker's data folder; undefined for a worker without one. */
  readonly data?: DataGrant | undefined;
  /** An entry of `folder` that the worker cannot see. */
  readonly hidden?: string | undefined;
}
