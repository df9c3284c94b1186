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
/** It does little and keeps nothing. */
const flags = ["--max-old-space-size=64", "--max-semi-space-size=1", "--v8-pool-size=1"];

/** The process that starts others for us, and the socket where these are connected to us. Both end with us at the latest. */
class Spawner {
  /** Resolves when it is of no use any more. */
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

  /** See `spawnProcess` in spawn.ts. */
  async spawnProcess(order: Omit<SpawnOrder, "id">): Promise<SpawnedProcess> {
    // Somebody may have cleaned up.
    this.#socket.restore();
    const id = randomBytes(idLength / 2).toString("hex");
    const pending = new PendingSpawn({
      descriptors: order.descriptors,
      arrivalCount: () => this.#socket.arrivalCount,
      kill: () => this.#tell({ kill: id }),
    });
    this.#spawns.set(id, pending);
    // A process that runs keeps us alive.
    this.#process.channel?.ref();
    // It may end before we have taken its sockets.
    void Promise.allSettled([pending.process, pending.over]).then(() => this.#forget(id));
    if (this.#process.connected) this.#tell({ ...order, id });
    else pending.abandon();
    return await pending.process;
  }

  #forget(id: string): void {
    this.#spawns.delete(id);
    if (this.#spawns.size === 0) this.#process.channel?.unref();
  }

  /** When it has just ended, that is told elsewhere. */
  #tell(order: SpawnerOrder): void {
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
 * Starts a process with an empty environment, by the one spawner that this process has: to start it here would hold up all that is
 * served (`main.ts`). Rejects when it cannot be started, or there is no descriptor left for its sockets.
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
    // It did not come up, as whoever waits for it hears.
  } finally {
    current = undefined;
  }
}

/** A process that was started for us. */
export interface SpawnedProcess {
  readonly pid: number;
  /** The sockets that were asked for, by descriptor. */
  readonly sockets: ReadonlyMap<number, Socket>;
  /** Resolves when it has ended; what it wrote before may still be on its way. */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when it has ended, and all that came from it was read. */
  readonly closed: Promise<ProcessEnd>;
  /** Ends it by SIGKILL. */
  kill(): void;
}
