import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { compiledFile } from "../../package-root.js";
import { syncNow, type SyncerStarted, type SyncResponse, type SyncJob } from "./syncer/sync-job.js";

/** Time after which the daemon kills a syncer that has sent no response and written no byte, because libsql is then blocked. */
const syncerSilenceMs = 5_000;
/** Maximum of that time. It doubles after each kill until a sync succeeds, because a sync takes longer than 5 s on an overloaded machine. */
const longestSyncerSilenceMs = 60_000;
/** Time in which a syncer must start. On a busy machine, the start of Node.js takes several seconds, and a repeated start would load it more. */
const syncerStartMs = 30_000;
const heapMegabytes = 64;

/** The syncer sent no message and wrote no byte within its time limit. */
class SilenceError extends Error {}

/** Controls the syncer process, which updates the file of one replica. Kills the process if it is blocked. */
export class ReplicaSyncer {
  readonly #job: SyncJob;
  #child: ChildProcess | undefined;
  /** The syncer that has responded to the job. */
  #startedChild: ChildProcess | undefined;
  #silenceMs = syncerSilenceMs;

  constructor(job: SyncJob) {
    this.#job = job;
  }

  /** Process id of the syncer. Undefined while no syncer runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Fetches new changes from the primary. Wait for the result before the next call. Throws an Error with the reason of a failure. After a
   * failure, the next call starts a new syncer.
   */
  async sync(): Promise<void> {
    const child = (this.#child ??= this.#start());
    try {
      if (this.#startedChild !== child) await this.#ask<SyncerStarted>(child, this.#job, syncerStartMs);
      this.#startedChild = child;
      const answer = await this.#ask<SyncResponse>(child, syncNow, this.#silenceMs);
      this.#silenceMs = syncerSilenceMs;
      if ("failed" in answer) throw new Error(answer.failed);
    } catch (error) {
      if (error instanceof SilenceError) this.#silenceMs = Math.min(this.#silenceMs * 2, longestSyncerSilenceMs);
      await this.stop();
      throw error;
    }
  }

  /** Kills the syncer process. Resolves when the process has exited. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const exited = once(child, "exit");
    // Keeps the daemon's process running until the syncer exits. Otherwise the daemon could exit early, for example while it starts with
    // inherited sockets.
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
    // Ignores the event, because the pending `sync` call fails when the syncer exits.
    child.on("error", () => undefined);
    child.on("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    // Lets the daemon exit while the syncer still runs.
    child.unref();
    child.channel?.unref();
    return child;
  }

  #bytesWritten(): number {
    const sizes = [this.#job.file, `${this.#job.file}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Sends a message. Resolves with the response. Rejects if the syncer exits, or sends no response and writes no byte for `silenceMs`. */
  #ask<Response>(child: ChildProcess, message: SyncJob | typeof syncNow, silenceMs: number): Promise<Response> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearInterval(timer);
        child.off("message", onMessage);
        child.off("exit", onExit);
        child.channel?.unref();
        act();
      };
      const onMessage = (answer: unknown) => settle(() => resolve(answer as Response));
      const onExit = (code: number | null, signal: string | null) =>
        settle(() => reject(new Error(`the syncer process exited (${signal ?? code})`)));
      let bytes = this.#bytesWritten();
      // Also counts a growing file as activity, because the syncer sends no message while it fetches a complete replica.
      const timer = setInterval(() => {
        const bytesBefore = bytes;
        bytes = this.#bytesWritten();
        if (bytes === bytesBefore) settle(() => reject(new SilenceError(`the syncer process sent no message for ${silenceMs / 1000} s`)));
      }, silenceMs);
      child.on("message", onMessage);
      child.on("exit", onExit);
      child.send(message, (error) => {
        if (error) settle(() => reject(error));
      });
    });
  }
}
