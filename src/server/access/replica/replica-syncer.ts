import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { compiledFile } from "../../package-root.js";
import { syncNow, type SyncResponse, type SyncJob } from "./syncer/sync-job.js";

/** A process without a response and without a written byte for this long hangs in libsql and is killed. */
const syncerSilenceMs = 5_000;
const heapMegabytes = 64;

/** Updates one replica's file through a process that can hang and be killed. */
export class ReplicaSyncer {
  readonly #job: SyncJob;
  #child: ChildProcess | undefined;

  constructor(job: SyncJob) {
    this.#job = job;
  }

  /** Undefined without a process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Fetches new changes, one call at a time. Throws an Error with the reason; the next call starts a new process. */
  async sync(): Promise<void> {
    const child = (this.#child ??= this.#start());
    try {
      const answer = await this.#ask(child);
      if ("failed" in answer) throw new Error(answer.failed);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Resolves when the process has ended. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const exited = once(child, "exit");
    // Keeps the daemon alive until the process has ended, such as at a start with inherited sockets.
    child.ref();
    child.kill("SIGKILL");
    await exited;
  }

  #start(): ChildProcess {
    const child = fork(compiledFile("server/access/replica/syncer/main.js"), {
      env: {},
      execArgv: [`--max-old-space-size=${heapMegabytes}`],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    // The exit is handled where a response is awaited.
    child.on("error", () => undefined);
    child.on("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    // A stopping daemon does not wait for the process.
    child.unref();
    child.channel?.unref();
    child.send(this.#job, () => undefined);
    return child;
  }

  #bytesWritten(): number {
    const sizes = [this.#job.file, `${this.#job.file}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  #ask(child: ChildProcess): Promise<SyncResponse> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearInterval(timer);
        child.off("message", onMessage);
        child.off("exit", onExit);
        child.channel?.unref();
        act();
      };
      const onMessage = (answer: unknown) => settle(() => resolve(answer as SyncResponse));
      const onExit = (code: number | null, signal: string | null) =>
        settle(() => reject(new Error(`the process that syncs ended (${signal ?? code})`)));
      let bytes = this.#bytesWritten();
      // Only fetching a whole replica takes this long, and its file grows meanwhile.
      const timer = setInterval(() => {
        const bytesBefore = bytes;
        bytes = this.#bytesWritten();
        if (bytes === bytesBefore) settle(() => reject(new Error(`the process that syncs was silent for ${syncerSilenceMs / 1000} s`)));
      }, syncerSilenceMs);
      child.on("message", onMessage);
      child.on("exit", onExit);
      child.send(syncNow, (error) => {
        if (error) settle(() => reject(error));
      });
    });
  }
}
