import { ApiError } from "../../../shared/api-error.js";
import type { Log } from "../../log/log.js";
import { StandbyIsolates } from "./standby-isolates.js";
import { IsolateChild } from "./isolate-child.js";
import { IsolateCommand, type IsolateCommandOptions } from "./isolate-command.js";
import { IsolateProcess } from "./isolate-process.js";
import { SandboxAllocator, type SandboxAllocatorOptions } from "./sandbox-allocator.js";
import type { WorkerNetwork } from "../../config/worker-network.js";
import { isolationLayers, type IsolationLayer } from "../sandbox/isolation-layers.js";
import type { DataGrant } from "../data/data-folder.js";
import type { KernelLayers } from "../sandbox/sandbox-policy.js";

/**
 * Maximum time in ms that a start waits for an idle isolate to stop. After this time, the pool drains the isolate that has served longest.
 */
const longestWaitMs = 1000;

interface Waiter {
  readonly needs: IsolateNeeds;
  readonly sinceMs: number;
  isWanted(): boolean;
  resolve(reserved: ReservedIsolate): void;
  reject(error: ApiError): void;
}

/**
 * Number of isolates by state. A `used` isolate has or loads a worker. A `starting` isolate is a process that starts for a worker. A
 * `blank` isolate is a standby isolate.
 */
export interface PoolNumbers {
  readonly size: number;
  readonly used: number;
  readonly starting: number;
  readonly blank: number;
  /** Number of isolate starts that wait because the pool is full. */
  readonly waiting: number;
}

/** An isolate that the pool has reserved for one caller. The isolate counts toward the maximum number of isolates of the pool. */
export interface ReservedIsolate {
  readonly isolate: Promise<IsolateProcess>;
}

interface IsolatePoolOptions extends SandboxAllocatorOptions, IsolateCommandOptions {
  readonly size: number;
  readonly standbyMemoryBytes: number;
  /** Addresses to which a worker can connect if it is loaded into a standby isolate. */
  readonly standbyNetwork: WorkerNetwork;
  readonly log: Log;
}

/** All isolates of the daemon. At most `size` isolates have a worker. The standby isolates are additional. */
export class IsolatePool {
  readonly #size: number;
  readonly #command: IsolateCommand;
  readonly #allocator: SandboxAllocator;
  readonly #layers: Promise<KernelLayers>;
  readonly #standbyIsolates: StandbyIsolates;
  /** Isolates that have or load a worker. */
  readonly #taken = new Set<IsolateProcess>();
  #starting = 0;
  readonly #waiters: Waiter[] = [];
  #patienceTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: IsolatePoolOptions) {
    this.#size = Math.max(1, options.size);
    this.#command = new IsolateCommand(options);
    this.#layers = options.layers;
    this.#allocator = new SandboxAllocator(options);
    const needs = { memoryBytes: options.standbyMemoryBytes, permissions: [], network: options.standbyNetwork, name: "" };
    const { isStopping = () => false, log } = options;
    this.#standbyIsolates = new StandbyIsolates({ needs, spawn: () => this.#spawn(needs), isStopping, log });
  }

  get numbers(): PoolNumbers {
    return {
      size: this.#size,
      used: this.#taken.size,
      starting: this.#starting,
      blank: this.#standbyIsolates.count,
      waiting: this.#waiters.length,
    };
  }

  /** Returns each isolation layer of worker processes, and whether the layer is active. */
  async isolation(): Promise<IsolationLayer[]> {
    return isolationLayers(await this.#layers, await this.#allocator.ownUser());
  }

  /** Resolves when a standby isolate has responded to a ping. Rejects if no standby isolate can start. */
  probe(): Promise<void> {
    return this.#standbyIsolates.probe();
  }

  /**
   * Reserves an isolate. If the pool is full, first waits until another isolate has exited. Rejects with WORKER_POOL_SATURATED when
   * `isWanted` returns false.
   */
  acquire(needs: IsolateNeeds, isWanted: () => boolean): Promise<ReservedIsolate> {
    if (this.#isClosed) return Promise.reject(closing());
    if (this.#freeCapacity(this.#waiters.length + 1) && this.#waiters.length === 0) return Promise.resolve(this.#reserve(needs));
    this.#patienceTimer ??= setInterval(this.#drainForWaitingStarts, longestWaitMs / 2).unref();
    return new Promise((resolve, reject) => this.#waiters.push({ needs, sinceMs: performance.now(), isWanted, resolve, reject }));
  }

  /** Called when an isolate has become idle. The pool can stop it for a start that waits. */
  noteIdle(): void {
    if (this.#waiters.length > 0) this.#freeCapacity(this.#waiters.length);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#patienceTimer);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(closing());
    const isolates = [...this.#taken, ...(await this.#standbyIsolates.close())];
    await Promise.all(isolates.map((isolate) => isolate.terminate()));
    await this.#allocator.close();
  }

  /**
   * Returns true if the pool is not full. Otherwise drains idle isolates until `wanted` isolates are stopping. Begins with the isolate that
   * has been idle longest.
   */
  #freeCapacity(wanted: number): boolean {
    if (this.#taken.size + this.#starting < this.#size) return true;
    const leaving = [...this.#taken].filter((isolate) => isolate.isTerminating).length;
    if (leaving >= wanted) return false;
    const idle = [...this.#taken].filter((isolate) => isolate.isEvictable);
    const longestIdleFirst = idle.toSorted((a, b) => a.lastUsedMs - b.lastUsedMs);
    for (const isolate of longestIdleFirst.slice(0, wanted - leaving)) isolate.drain();
    return false;
  }

  /**
   * Drains the isolates that have served longest, if a start has waited for `longestWaitMs`. Otherwise isolates that are never idle would
   * keep other workers from starting.
   */
  readonly #drainForWaitingStarts = (): void => {
    this.#dropUnwanted();
    const nowMs = performance.now();
    const impatient = this.#waiters.filter(({ sinceMs }) => nowMs - sinceMs >= longestWaitMs).length;
    const going = [...this.#taken].filter((isolate) => !isolate.isServing).length;
    const longestServingFirst = [...this.#taken]
      .filter((isolate) => isolate.isServing && nowMs - isolate.loadedMs >= longestWaitMs)
      .toSorted((a, b) => a.loadedMs - b.loadedMs);
    for (const isolate of longestServingFirst.slice(0, Math.max(0, impatient - going))) isolate.drain();
    if (this.#waiters.length > 0) return;
    clearInterval(this.#patienceTimer);
    this.#patienceTimer = undefined;
  };

  #dropUnwanted(): void {
    const unwanted = this.#waiters.filter((waiter) => !waiter.isWanted());
    for (const waiter of unwanted) this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    for (const waiter of unwanted) waiter.reject(noRequestWaits());
  }

  #reserve(needs: IsolateNeeds): ReservedIsolate {
    const isolate = this.#take(needs);
    // Prevents an unhandled rejection, because the caller can await the isolate later.
    isolate.catch(() => undefined);
    return { isolate };
  }

  async #take(needs: IsolateNeeds): Promise<IsolateProcess> {
    this.#starting += 1;
    try {
      const isolate = (await this.#standbyIsolates.take(needs)) ?? (await this.#spawn(needs));
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
    while (this.#waiters.length > 0 && this.#freeCapacity(this.#waiters.length)) {
      const waiter = this.#waiters.shift() as Waiter;
      if (waiter.isWanted()) waiter.resolve(this.#reserve(waiter.needs));
      else waiter.reject(noRequestWaits());
    }
  }

  async #spawn(needs: IsolateNeeds): Promise<IsolateProcess> {
    const allocation = await this.#allocator.allocate(needs);
    try {
      const { slot } = allocation;
      const child = await IsolateChild.start(await this.#command.build({ ...allocation, ...needs, slot: slot.path }), slot.path);
      const isolate = new IsolateProcess(child, { slot, memoryBytes: needs.memoryBytes, program: this.#command.programFolder });
      void isolate.exited.then(() => this.#allocator.release(allocation, needs));
      return isolate;
    } catch (error) {
      void allocation.slot.remove().catch(() => undefined);
      void this.#allocator.release(allocation, needs);
      throw error;
    }
  }
}

function noRequestWaits(): ApiError {
  return new ApiError("WORKER_POOL_SATURATED", "The isolate was not started, because no request is waiting for an isolate any longer.", {
    retryAfterSeconds: 1,
  });
}

function closing(): ApiError {
  return new ApiError("WORKER_UNAVAILABLE", "The daemon is stopping.", { retryAfterSeconds: 5 });
}

/** Requirements of a worker for its isolate. If no standby isolate meets them, the pool starts a dedicated isolate. */
export interface IsolateNeeds {
  /** Heap limit in bytes. Buffers outside the heap can take about the same amount again. */
  readonly memoryBytes: number;
  /** Permissions in the worker's manifest. The operator has allowed all of them. */
  readonly permissions: readonly string[];
  /** Worker name. An isolate that can access files runs as the user that belongs to this name. */
  readonly name: string;
  readonly network: WorkerNetwork;
  /** The worker's folder, if the file rules of the isolate contain it. Undefined if the isolate reads only its sandbox folder. */
  readonly folder?: string | undefined;
  /** Access to the worker's data folder. Undefined if the worker has no data folder. */
  readonly data?: DataGrant | undefined;
  /** Name of an entry in `folder` that the worker must not see. */
  readonly hidden?: string | undefined;
}
