import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { compiledFile } from "../../package-root.js";
import { idLength, type SpawnOrder, type SpawnerOrder, type SpawnReport, type ProcessEnd } from "./messages.js";
import { SpawnSocket, PendingSpawn, type SpawnConnection } from "./pending-spawn.js";
import type { Socket } from "node:net";

const program = compiledFile("server/platform/spawner/main.js");
/** Node.js flags that limit the heap, because the spawner stores almost no data. */
const flags = ["--max-old-space-size=64", "--max-semi-space-size=1", "--v8-pool-size=1"];

/** The spawner process, and the socket to which its child processes connect. Both end with the daemon at the latest. */
class Spawner {
  /** Resolves when the spawner process has ended. */
  readonly ended: Promise<void>;
  readonly #socket: SpawnSocket;
  readonly #process: ChildProcess;
  readonly #spawns = new Map<string, PendingSpawn>();

  private constructor(directory: string) {
    this.#socket = new SpawnSocket(directory, (connection) => this.#connect(connection));
    const child = fork(program, [this.#socket.path], { env: {}, execArgv: flags, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.unref();
    child.channel?.unref();
    child.on("message", (report: SpawnReport) => this.#spawns.get(report.id)?.onReport(report));
    this.#process = child;
    this.ended = new Promise((resolve) => child.once("exit", resolve).once("error", resolve)).then(() => this.#close());
  }

  static async start(): Promise<Spawner> {
    return new Spawner(await mkdtemp(path.join(tmpdir(), "runtimed-")));
  }

  /** Starts a process, as described at the exported function `spawnProcess`. */
  async spawnProcess(order: Omit<SpawnOrder, "id">): Promise<SpawnedProcess> {
    // Opens the socket again if a cleanup deleted its file.
    this.#socket.restore();
    const id = randomBytes(idLength / 2).toString("hex");
    const pending = new PendingSpawn({
      descriptors: order.descriptors,
      arrivalCount: () => this.#socket.arrivalCount,
      kill: () => this.#send({ kill: id }),
    });
    this.#spawns.set(id, pending);
    // Keeps the daemon running while a process that the spawner has started still runs.
    this.#process.channel?.ref();
    // Waits for both promises, because a process can end before the daemon has accepted its sockets.
    void Promise.allSettled([pending.process, pending.over]).then(() => this.#forget(id));
    if (this.#process.connected) this.#send({ ...order, id });
    else pending.abandon();
    return await pending.process;
  }

  #forget(id: string): void {
    this.#spawns.delete(id);
    if (this.#spawns.size === 0) this.#process.channel?.unref();
  }

  /** Sends an order to the spawner. Ignores an error, because the handler of the event "exit" treats all processes of an ended spawner. */
  #send(order: SpawnerOrder): void {
    if (this.#process.connected) this.#process.send(order, () => undefined);
  }

  #connect({ id, descriptor, socket }: SpawnConnection): void {
    const pending = this.#spawns.get(id);
    if (pending) pending.connect(descriptor, socket);
    else socket.destroy();
  }

  #close(): void {
    this.#socket.close();
    for (const pending of this.#spawns.values()) pending.abandon();
  }
}

let current: Promise<Spawner> | undefined;

/**
 * Starts a process with an empty environment through the spawner, because fork(2) would block the daemon. Rejects if the process cannot be
 * started or if no file descriptor is free for its sockets.
 */
export async function spawnProcess(order: Omit<SpawnOrder, "id">): Promise<SpawnedProcess> {
  if (!current) {
    current = Spawner.start();
    void forgetAtItsEnd(current);
  }
  return (await current).spawnProcess(order);
}

async function forgetAtItsEnd(spawner: Promise<Spawner>): Promise<void> {
  try {
    await (
      await spawner
    ).ended;
  } catch {
    // If the spawner itself cannot be started, the caller of `spawnProcess` receives the error.
  } finally {
    current = undefined;
  }
}

/** A process that the spawner started. */
export interface SpawnedProcess {
  readonly pid: number;
  /** Sockets to the process, by the descriptor number that each has in the process. */
  readonly sockets: ReadonlyMap<number, Socket>;
  /** Resolves when the process has ended. Some of its output is possibly still unread. */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when the process has ended and all its output is read. */
  readonly closed: Promise<ProcessEnd>;
  /** Kills the process with SIGKILL. */
  kill(): void;
}
