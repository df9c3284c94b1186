import { createServer, type Socket, type Server } from "node:net";
import { setStallTolerantInterval } from "../stall-tolerant-interval.js";
import { NoSpawnSocket, greetingBytes, idLength, type SpawnReport, type ProcessEnd } from "./messages.js";
import type { SpawnedProcess } from "./spawner.js";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";

/**
 * Sockets connect before the process starts and wait in the accept queue. Each turn of the event loop accepts one. When none arrives for
 * this long, the missing ones failed for lack of file descriptors.
 */
const quietTimeMs = 1000;
const looksPerQuietTime = 5;

/** Accept queue length: the sockets of all spawns that can be concurrent. The system can allow fewer. */
const mostWaiting = 4096;
/** A connection that does not identify itself within this time is closed. */
const greetingTimeoutMs = 5000;

interface PendingSpawnOptions {
  readonly descriptors: readonly number[];
  /** Returns the number of accepted sockets of all spawns. */
  readonly arrivalCount: () => number;
  readonly kill: () => void;
}

/** A spawned process, from the order to its end. */
export class PendingSpawn {
  /** Resolves when the process has started; rejects when the start failed. */
  readonly process: Promise<SpawnedProcess>;
  /** Resolves when the process has ended, or when its start failed. */
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

  /** Kills the process because the spawner has ended and no report will arrive. */
  abandon(): void {
    if (this.#pid === undefined) return this.#fail("the spawner process has ended");
    try {
      process.kill(this.#pid, "SIGKILL");
    } catch {
      // The process has already ended.
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

  /** Waits until all sockets have arrived, or none arrives for `quietTimeMs`. */
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

/** An accepted connection and its identification. */
export interface SpawnConnection {
  readonly id: string;
  readonly descriptor: number;
  readonly socket: Socket;
}

/** The Unix socket to which spawned processes connect, in a private folder that is deleted at the end. */
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

  /** Number of accepted connections. */
  get arrivalCount(): number {
    return this.#arrivalCount;
  }

  /** Reopens the socket if its file was deleted, as by a cleanup of the temporary directory. */
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
    // Ignored: the next spawn fails and reports the error.
    server.on("error", () => undefined);
    return server.listen({ path: this.path, backlog: mostWaiting }).unref();
  }

  /** Identifies a connection: other processes of the same user can connect too. */
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
