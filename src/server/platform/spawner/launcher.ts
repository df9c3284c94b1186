import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { compiledFile } from "../../package-root.js";
import { idLength, type LaunchOrder, type LauncherOrder, type LaunchReport } from "./launch-messages.js";
import { LaunchSocket, type LaunchConnection } from "./launch-socket.js";
import type { LaunchedProcess } from "./launched-process.js";
import { PendingLaunch } from "./pending-launch.js";

const program = compiledFile("server/platform/spawner/main.js");
/** It does little and keeps nothing. */
const flags = ["--max-old-space-size=64", "--max-semi-space-size=1", "--v8-pool-size=1"];

/** The process that starts others for us, and the socket where these are connected to us. Both end with us at the latest. */
export class Launcher {
  /** Resolves when it is of no use any more. */
  readonly ended: Promise<void>;
  readonly #socket: LaunchSocket;
  readonly #process: ChildProcess;
  readonly #launches = new Map<string, PendingLaunch>();

  private constructor(directory: string) {
    this.#socket = new LaunchSocket(directory, (connection) => this.#connect(connection));
    const child = fork(program, [this.#socket.path], { env: {}, execArgv: flags, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.unref();
    child.channel?.unref();
    child.on("message", (report: LaunchReport) => this.#launches.get(report.id)?.onReport(report));
    this.#process = child;
    this.ended = new Promise((resolve) => child.once("exit", resolve).once("error", resolve)).then(() => this.#close());
  }

  static async start(): Promise<Launcher> {
    return new Launcher(await mkdtemp(path.join(tmpdir(), "runtimed-")));
  }

  /** See `launch`. */
  async launch(order: Omit<LaunchOrder, "id">): Promise<LaunchedProcess> {
    // Somebody may have cleaned up.
    this.#socket.restore();
    const id = randomBytes(idLength / 2).toString("hex");
    const pending = new PendingLaunch({
      descriptors: order.descriptors,
      arrivalCount: () => this.#socket.arrivalCount,
      kill: () => this.#tell({ kill: id }),
    });
    this.#launches.set(id, pending);
    // A process that runs keeps us alive.
    this.#process.channel?.ref();
    // It may end before we have taken its sockets.
    void Promise.allSettled([pending.process, pending.over]).then(() => this.#forget(id));
    if (this.#process.connected) this.#tell({ ...order, id });
    else pending.abandon();
    return await pending.process;
  }

  #forget(id: string): void {
    this.#launches.delete(id);
    if (this.#launches.size === 0) this.#process.channel?.unref();
  }

  /** When it has just ended, that is told elsewhere. */
  #tell(order: LauncherOrder): void {
    if (this.#process.connected) this.#process.send(order, () => undefined);
  }

  #connect({ id, descriptor, socket }: LaunchConnection): void {
    const pending = this.#launches.get(id);
    if (pending) pending.connect(descriptor, socket);
    else socket.destroy();
  }

  #close(): void {
    this.#socket.close();
    for (const pending of this.#launches.values()) pending.abandon();
  }
}
