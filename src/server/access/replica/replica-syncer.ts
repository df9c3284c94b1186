import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { compiledFile } from "../../package-root.js";
import { syncNow, type SyncResponse, type SyncJob } from "./syncer/sync-job.js";

/** A process that has neither answered nor written anything for so long hangs in libsql, and is killed. */
const syncerSilenceMs = 5_000;
const heapMegabytes = 64;

/** Keeps one replica's file up to date, through a process that may hang and be killed. */
export class ReplicaSyncer {
  readonly #job: SyncJob;
  #child: ChildProcess | undefined;

  constructor(job: SyncJob) {
    this.#job = job;
  }

  /** Undefined while there is none. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Fetches what is new; one at a time. Throws an Error that says why it could not; the next call begins with a new process. */
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

  /** Resolves when the process is gone. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const exited = once(child, "exit");
    // Now it is waited for: with nothing else to hold it, as at a start on sockets that were handed over, the daemon would end here.
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
    // How it ended is seen by who asks it.
    child.on("error", () => undefined);
    child.on("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    // A daemon that wants to end must not wait for it.
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
      // Only a whole replica takes so long, and one can see it grow.
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
