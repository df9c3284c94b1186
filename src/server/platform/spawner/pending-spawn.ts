import { createServer, type Socket, type Server } from "node:net";
import { setStallTolerantInterval } from "../stall-tolerant-interval.js";
import { NoSpawnSocket, greetingBytes, idLength, type SpawnReport, type ProcessEnd } from "./messages.js";
import type { SpawnedProcess } from "./spawner.js";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";

/**
 * Time in ms without a new socket after which a start fails, because no file descriptor is free. The sockets connect before the process
 * starts and wait in the accept queue. The daemon accepts one socket per turn of the event loop.
 */
const quietTimeMs = 1000;
const checksPerQuietTime = 5;

/** Length of the accept queue. The sockets of all processes that start at the same time fit into it. The system can set a lower limit. */
const mostWaiting = 4096;
/**
 * Time in ms after which the daemon closes a connection that has not sent an id. Another program of the same user can have opened the
 * connection.
 */
const greetingTimeoutMs = 5000;

interface PendingSpawnOptions {
  readonly descriptors: readonly number[];
  /** Returns the number of sockets that the daemon has accepted for all starting processes. */
  readonly arrivalCount: () => number;
  readonly kill: () => void;
}

/** A process that the spawner starts. The object exists from the start request until the process ends. */
export class PendingSpawn {
  /** Resolves when the process has started. Rejects if the start failed. */
  readonly process: Promise<SpawnedProcess>;
  /** Resolves when the process has ended or its start failed. */
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

  /** Kills the process with SIGKILL, because the spawner has ended and sends no more reports. */
  abandon(): void {
    if (this.#pid === undefined) return this.#fail("the spawner process has ended");
    try {
      process.kill(this.#pid, "SIGKILL");
    } catch {
      // Ignores the error, because it means that the process has ended.
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

  /** Waits until all sockets are connected, or no socket connects for `quietTimeMs`. */
  async #awaitSockets(): Promise<void> {
    let seenCount = this.#options.arrivalCount();
    let quietChecks = 0;
    const end = setStallTolerantInterval(quietTimeMs / checksPerQuietTime, () => {
      const count = this.#options.arrivalCount();
      quietChecks = count === seenCount ? quietChecks + 1 : 0;
      seenCount = count;
      if (quietChecks === checksPerQuietTime) this.#connected.resolve();
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

/** A connection that the daemon has accepted from a starting process, with the id and the descriptor number that the process has sent. */
export interface SpawnConnection {
  readonly id: string;
  readonly descriptor: number;
  readonly socket: Socket;
}

/** The Unix socket to which starting processes connect. The daemon deletes the private folder of the socket when it exits. */
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

  /** Opens the socket again if another program has deleted its file, for example a cleanup of the temporary directory. */
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
    // Ignores the event, because the next start of a process fails with the same error.
    server.on("error", () => undefined);
    return server.listen({ path: this.path, backlog: mostWaiting }).unref();
  }

  /**
   * Reads the id that a connection sends first and passes the connection to the process with this id. Other processes of the same user can
   * also connect, so the id is necessary.
   */
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
