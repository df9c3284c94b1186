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

/** Maximum time that a start waits for an idle isolate. Afterwards, the isolate that has served longest completes its calls and stops. */
const longestWaitMs = 1000;

interface Waiter {
  readonly needs: IsolateNeeds;
  readonly sinceMs: number;
  isWanted(): boolean;
  resolve(place: Place): void;
  reject(error: ApiError): void;
}

/** Numbers of isolates by state. `used` isolates have a worker, `starting` ones load a worker, `blank` ones are standby isolates. */
export interface PoolNumbers {
  readonly size: number;
  readonly used: number;
  readonly starting: number;
  readonly blank: number;
  /** Number of starts that wait for a place in the pool. */
  readonly waiting: number;
}

/** A place in the pool, and the isolate that uses the place. */
export interface Place {
  readonly isolate: Promise<IsolateProcess>;
}

interface IsolatePoolOptions extends SandboxAllocatorOptions, IsolateCommandOptions {
  readonly size: number;
  readonly standbyMemoryBytes: number;
  /** Network rules of standby isolates. */
  readonly standbyNetwork: WorkerNetwork;
  readonly log: Log;
}

/** All isolates of the daemon: at most `size` isolates with a worker, and several standby isolates. */
export class IsolatePool {
  readonly #size: number;
  readonly #command: IsolateCommand;
  readonly #allocator: SandboxAllocator;
  readonly #layers: Promise<KernelLayers>;
  readonly #standbyIsolates: StandbyIsolates;
  /** Isolates that have a worker or load one. */
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
    this.#standbyIsolates = new StandbyIsolates({ needs, spawn: () => this.#spawn(needs), log: options.log });
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

  /** The isolation layers of worker processes. */
  async isolation(): Promise<IsolationLayer[]> {
    return isolationLayers(await this.#layers, await this.#allocator.ownUser());
  }

  /** Resolves when a standby isolate has responded to a ping. Rejects when none can start. */
  probe(): Promise<void> {
    return this.#standbyIsolates.probe();
  }

  /** Acquires a place and an isolate. Waits for a free place while `isWanted` returns true. */
  acquire(needs: IsolateNeeds, isWanted: () => boolean): Promise<Place> {
    if (this.#isClosed) return Promise.reject(closing());
    if (this.#makeRoom(this.#waiters.length + 1) && this.#waiters.length === 0) return Promise.resolve(this.#place(needs));
    this.#patienceTimer ??= setInterval(this.#drainForWaitingStarts, longestWaitMs / 2).unref();
    return new Promise((resolve, reject) => this.#waiters.push({ needs, sinceMs: performance.now(), isWanted, resolve, reject }));
  }

  /** Called when an isolate becomes idle, because the pool can now stop it for a waiting start. */
  noteIdle(): void {
    if (this.#waiters.length > 0) this.#makeRoom(this.#waiters.length);
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
   * Returns true when another isolate can start. Otherwise drains as many idle isolates as `wanted` places need, the longest idle first.
   */
  #makeRoom(wanted: number): boolean {
    if (this.#taken.size + this.#starting < this.#size) return true;
    const leaving = [...this.#taken].filter((isolate) => isolate.isTerminating).length;
    if (leaving >= wanted) return false;
    const idle = [...this.#taken].filter((isolate) => isolate.isEvictable);
    const longestIdleFirst = idle.toSorted((a, b) => a.lastUsedMs - b.lastUsedMs);
    for (const isolate of longestIdleFirst.slice(0, wanted - leaving)) isolate.drain();
    return false;
  }

  /**
   * Drains the isolates that have served longest, for starts that have waited too long. Otherwise isolates that are never idle would block
   * other workers forever.
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

  #place(needs: IsolateNeeds): Place {
    const isolate = this.#take(needs);
    // Prevents an unhandled rejection, because the caller may await the isolate later.
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
    while (this.#waiters.length > 0 && this.#makeRoom(this.#waiters.length)) {
      const waiter = this.#waiters.shift() as Waiter;
      if (waiter.isWanted()) waiter.resolve(this.#place(waiter.needs));
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
  return new ApiError("WORKER_POOL_SATURATED", "No request waits for this isolate.", { retryAfterSeconds: 1 });
}

function closing(): ApiError {
  return new ApiError("WORKER_UNAVAILABLE", "The daemon is stopping.", { retryAfterSeconds: 5 });
}

/** Requirements of a worker. A standby isolate may not meet them. */
export interface IsolateNeeds {
  /** Limit of the heap in bytes. Buffers get about the same amount in addition. */
  readonly memoryBytes: number;
  /** Permissions of the manifest. The operator allows all of them. */
  readonly permissions: readonly string[];
  /** Name of the worker. An isolate with access to files runs as the system user of this name. */
  readonly name: string;
  readonly network: WorkerNetwork;
  /** The worker's folder, for an isolate whose file rules name it. Undefined for an isolate that reads only its slot. */
  readonly folder?: string | undefined;
  /** Access to the worker's data folder; undefined for a worker without a data folder. */
  readonly data?: DataGrant | undefined;
  /** Name of an entry of `folder` that the worker cannot see. */
  readonly hidden?: string | undefined;
}
