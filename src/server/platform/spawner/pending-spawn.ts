import { createServer, type Socket, type Server } from "node:net";
import { setStallTolerantInterval } from "../stall-tolerant-interval.js";
import { NoSpawnSocket, greetingBytes, idLength, type SpawnReport, type ProcessEnd } from "./messages.js";
import type { SpawnedProcess } from "./spawner.js";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";

/**
 * Its sockets were opened before the process was started, and wait in line with those of others, of which each turn of the event loop
 * takes one. When so long nobody's came, those that are missing will not: there was no descriptor left for them.
 */
const quietTimeMs = 1000;
const looksPerQuietTime = 5;

/** Sockets that may wait for us to take them, while we are busy: those of as many spawns at once as there may be. The system may allow fewer. */
const mostWaiting = 4096;
/** Whoever comes in and does not say who it is. */
const greetingTimeoutMs = 5000;

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

/** One that came in, and what it said first. */
export interface SpawnConnection {
  readonly id: string;
  readonly descriptor: number;
  readonly socket: Socket;
}

/** Where spawned processes are connected to us: a socket in a private folder, which goes with it. */
export class SpawnSocket {
  readonly path: string;
  readonly #directory: string;
  readonly #onConnection: (connection: SpawnConnection) => void;
  #server: Server;
  #arrivalCount = 0;

  constructor(directory: string, onConnection: (connection: SpawnConnection) => void) {
    this.path = path.join(directory, "socket");
    this.#directory = directory;
    this.#onConnection = onConnection;
    this.#server = this.#listen();
    process.once("exit", this.#remove);
  }

  /** How many ever came in. */
  get arrivalCount(): number {
    return this.#arrivalCount;
  }

  /** Opens it again where it is gone: it lies where people and programs clean up. */
  restore(): void {
    if (existsSync(this.path)) return;
    this.#server.close();
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    this.#server = this.#listen();
  }

  close(): void {
    this.#server.close();
    process.off("exit", this.#remove);
    this.#remove();
  }

  #listen(): Server {
    const server = createServer((socket) => this.#meet(socket));
    // Spawning fails then, and says so.
    server.on("error", () => undefined);
    return server.listen({ path: this.path, backlog: mostWaiting }).unref();
  }

  /** Other processes of the same user could come in, too. */
  #meet(socket: Socket): void {
    this.#arrivalCount += 1;
    socket.on("error", () => undefined);
    const timer = setTimeout(() => socket.destroy(), greetingTimeoutMs).unref();
    const read = (): void => {
      const greeting = socket.read(greetingBytes) as Buffer | null;
      if (greeting === null) return;
      clearTimeout(timer);
      socket.off("readable", read);
      const text = greeting.toString("latin1");
      this.#onConnection({ id: text.slice(0, idLength), descriptor: Number(text.slice(idLength)), socket });
    };
    socket.on("readable", read);
    socket.once("close", () => clearTimeout(timer));
  }

  readonly #remove = (): void => rmSync(this.#directory, { recursive: true, force: true });
}
