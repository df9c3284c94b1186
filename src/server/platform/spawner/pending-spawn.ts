import type { Socket } from "node:net";
import { setStallTolerantInterval } from "../stall-tolerant-interval.js";
import { NoSpawnSocket, type SpawnReport, type ProcessEnd } from "./messages.js";
import type { SpawnedProcess } from "./spawned-process.js";

/**
 * Its sockets were opened before the process was started, and wait in line with those of others, of which each turn of the event loop
 * takes one. When so long nobody's came, those that are missing will not: there was no descriptor left for them.
 */
const quietTimeMs = 1000;
const looksPerQuietTime = 5;

interface PendingSpawnOptions {
  readonly descriptors: readonly number[];
  /** How many sockets have come so far, of all spawns. */
  readonly arrivalCount: () => number;
  readonly kill: () => void;
}

/** A process from the order to start it until it has ended. */
export class PendingSpawn {
  /** Rejects when it could not be started. */
  readonly process: Promise<SpawnedProcess>;
  /** Resolves when it has ended, or was never started. */
  readonly over: Promise<ProcessEnd>;
  readonly #options: PendingSpawnOptions;
  readonly #sockets = new Map<number, Socket>();
  readonly #started = Promise.withResolvers<number>();
  readonly #connected = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<ProcessEnd>();
  #pid: number | undefined;

  constructor(options: PendingSpawnOptions) {
    this.#options = options;
    this.over = this.#ended.promise;
    this.process = this.#start();
  }

  connect(descriptor: number, socket: Socket): void {
    this.#sockets.set(descriptor, socket);
    if (this.#isConnected) this.#connected.resolve();
  }

  onReport(report: SpawnReport): void {
    if ("end" in report) return this.#ended.resolve(report.end);
    if ("failure" in report) return this.#fail(report.failure);
    this.#pid = report.pid;
    this.#started.resolve(report.pid);
  }

  /** The spawner has ended, so no report about the process will come. */
  abandon(): void {
    if (this.#pid === undefined) return this.#fail("the process that starts others has ended");
    try {
      process.kill(this.#pid, "SIGKILL");
    } catch {
      // It has ended, too.
    }
    this.#ended.resolve({ status: null, signal: "SIGKILL" });
  }

  get #isConnected(): boolean {
    return this.#sockets.size === this.#options.descriptors.length;
  }

  async #start(): Promise<SpawnedProcess> {
    const pid = await this.#started.promise;
    if (!this.#isConnected) await this.#awaitSockets();
    const { kill } = this.#options;
    if (!this.#isConnected) {
      kill();
      this.#closeSockets();
      throw new NoSpawnSocket();
    }
    const closed = Promise.all([...this.#sockets.values()].map(closeOf)).then(() => this.over);
    return { pid, sockets: this.#sockets, ended: this.over, closed, kill };
  }

  /** Until all have come, or none comes any more. */
  async #awaitSockets(): Promise<void> {
    let seenCount = this.#options.arrivalCount();
    let quietLooks = 0;
    const end = setStallTolerantInterval(quietTimeMs / looksPerQuietTime, () => {
      const count = this.#options.arrivalCount();
      quietLooks = count === seenCount ? quietLooks + 1 : 0;
      seenCount = count;
      if (quietLooks === looksPerQuietTime) this.#connected.resolve();
    });
    await this.#connected.promise;
    end();
  }

  #fail(reason: string): void {
    this.#started.reject(NoSpawnSocket.orOther(reason));
    this.#ended.resolve({ status: null, signal: null });
    this.#closeSockets();
  }

  #closeSockets(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())));
}
