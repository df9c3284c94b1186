import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { compiledFile } from "../package-root.js";
import { greetingBytes, passwordBytes, type LaunchOrder, type LauncherOrder, type LaunchReport } from "./launch-messages.js";
import type { LaunchedProcess } from "./launched-process.js";
import { PendingLaunch } from "./pending-launch.js";

const program = compiledFile("server/launcher/main.js");
/** It does little and keeps nothing. */
const flags = ["--max-old-space-size=64", "--max-semi-space-size=1", "--v8-pool-size=1"];
/** Who comes to the socket and does not say who it is. */
const greetingTimeoutMs = 5000;

/** The process that starts others for us, and the socket where these are connected to us. Both end with us at the latest. */
export class Launcher {
  /** Resolves when it is of no use any more. */
  readonly ended: Promise<void>;
  readonly #process: ChildProcess;
  readonly #server: Server;
  readonly #launches = new Map<number, PendingLaunch>();
  #count = 0;

  private constructor(server: Server, child: ChildProcess) {
    this.#server = server;
    this.#process = child;
    server.on("connection", (socket) => this.#meet(socket));
    child.on("message", (report: LaunchReport) => this.#launches.get(report.id)?.onReport(report));
    this.ended = new Promise((resolve) => child.once("exit", resolve).once("error", resolve)).then(() => this.#close());
  }

  static async start(): Promise<Launcher> {
    const directory = await mkdtemp(path.join(tmpdir(), "runtimed-"));
    const server = createServer().unref();
    removeWith(server, directory);
    const socketPath = path.join(directory, "socket");
    server.listen(socketPath);
    await once(server, "listening");
    const child = fork(program, [socketPath], { env: {}, execArgv: flags, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.unref();
    child.channel?.unref();
    return new Launcher(server, child);
  }

  /** See `launch`. */
  async launch(order: Omit<LaunchOrder, "id" | "password">): Promise<LaunchedProcess> {
    const id = (this.#count += 1);
    const password = randomBytes(passwordBytes / 2).toString("hex");
    const pending = new PendingLaunch({ descriptors: order.descriptors, password, kill: () => this.#tell({ kill: id }) });
    this.#launches.set(id, pending);
    // A process that runs keeps us alive.
    this.#process.channel?.ref();
    void pending.over.then(() => this.#forget(id));
    if (this.#process.connected) this.#tell({ ...order, id, password });
    else pending.abandon();
    return await pending.process;
  }

  #forget(id: number): void {
    this.#launches.delete(id);
    if (this.#launches.size === 0) this.#process.channel?.unref();
  }

  /** When it has just ended, that is told elsewhere. */
  #tell(order: LauncherOrder): void {
    if (this.#process.connected) this.#process.send(order, () => undefined);
  }

  /** Whoever comes in says a password and a descriptor first; other processes of the same user could come, too. */
  #meet(socket: Socket): void {
    socket.on("error", () => undefined);
    const timer = setTimeout(() => socket.destroy(), greetingTimeoutMs).unref();
    const read = (): void => {
      const greeting = socket.read(greetingBytes) as Buffer | null;
      if (greeting === null) return;
      clearTimeout(timer);
      socket.off("readable", read);
      const text = greeting.toString("latin1");
      const pending = [...this.#launches.values()].find((known) => known.knows(text.slice(0, passwordBytes)));
      if (pending) pending.connect(Number(text.slice(passwordBytes)), socket);
      else socket.destroy();
    };
    socket.on("readable", read);
    socket.once("close", () => clearTimeout(timer));
  }

  #close(): void {
    this.#server.close();
    for (const pending of this.#launches.values()) pending.abandon();
  }
}

function removeWith(server: Server, directory: string): void {
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  process.once("exit", remove);
  server.once("close", () => {
    process.off("exit", remove);
    remove();
  });
}
