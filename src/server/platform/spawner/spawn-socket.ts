import { existsSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { greetingBytes, idLength } from "./messages.js";

/** Sockets that may wait for us to take them, while we are busy: those of as many spawns at once as there may be. The system may allow fewer. */
const mostWaiting = 4096;
/** Whoever comes in and does not say who it is. */
const greetingTimeoutMs = 5000;

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
