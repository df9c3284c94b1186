import { writeFile } from "node:fs";
import type { Socket } from "node:net";
import { ApiError } from "../../../shared/api-error.js";
import { spawnProcess, type SpawnedProcess } from "../../platform/spawner/spawner.js";
import { standard } from "../../platform/spawner/messages.js";
import { channelDescriptor } from "../protocol/frames.js";

/** The kernel's choice when memory is short: an isolate rather than the daemon. */
const oomScoreAdjustment = "500";
/** From the order to terminate to SIGKILL; the app's onTerminate has one second of it. */
const terminateTimeoutMs = 1500;

/** V8's last words. */
const heapIsFull = /^(?:#\s*)?fatal (?:error:|process|javascript).*out of memory/i;

/** The process of an isolate, with one socket to it. */
export class IsolateChild {
  readonly pid: number;
  readonly socket: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** It ended, and how; what it said before may still be on its way. */
  readonly ended: Promise<string>;
  /** It ended, and its output has been read. */
  readonly exited: Promise<void>;
  readonly #process: SpawnedProcess;

  private constructor(spawned: SpawnedProcess) {
    const socketAt = (descriptor: number): Socket => spawned.sockets.get(descriptor) as Socket;
    this.#process = spawned;
    this.pid = spawned.pid;
    this.socket = socketAt(channelDescriptor);
    this.stdout = socketAt(standard.output);
    this.stderr = socketAt(standard.errors);
    this.ended = spawned.ended.then(({ status, signal }) => (signal ? `was ended by ${signal}` : `ended with status ${status}`));
    this.exited = spawned.closed.then(() => undefined);
    writeFile(`/proc/${spawned.pid}/oom_score_adj`, oomScoreAdjustment, () => undefined);
  }

  /** Throws `WORKER_UNAVAILABLE` when it cannot be started, or the daemon has no descriptor left for it. */
  static async start(command: { file: string; args: string[] }, workingDirectory: string): Promise<IsolateChild> {
    const descriptors = [standard.output, standard.errors, channelDescriptor];
    try {
      return new IsolateChild(await spawnProcess({ ...command, workingDirectory, descriptors }));
    } catch (cause) {
      throw new ApiError("WORKER_UNAVAILABLE", "The daemon could not start a process for the worker.", { retryAfterSeconds: 1, cause });
    }
  }

  /** Reads no more of what it wrote. */
  closeOutput(): void {
    this.stdout.destroy();
    this.stderr.destroy();
  }

  kill(): void {
    this.#process.kill();
  }

  /** Gives it the time that it has after the order to terminate. */
  killInTime(): void {
    const timer = setTimeout(() => this.kill(), terminateTimeoutMs);
    void this.exited.then(() => clearTimeout(timer));
  }
}

/** How an isolate's process ends, as clients and the operator are told: the first reason that is known counts, the system's words otherwise. */
export class ExitReason {
  readonly #beyondMemory: string;
  #reason: string | undefined;
  #hasCrashed = false;

  constructor(memoryBytes: number) {
    this.#beyondMemory = `was ended because it reached its memory limit of ${Math.floor(memoryBytes / 1024 / 1024)} MB`;
  }

  /** It ended without having been asked to, or by our force. */
  get hasCrashed(): boolean {
    return this.#hasCrashed;
  }

  get isKnown(): boolean {
    return this.#reason !== undefined;
  }

  get isBeyondMemory(): boolean {
    return this.#reason === this.#beyondMemory;
  }

  asked(): void {
    this.#reason = "was asked to end";
  }

  forced(because: string): void {
    this.#reason = `was stopped because ${because}`;
    this.#hasCrashed = true;
  }

  beyondMemory(): void {
    this.#reason = this.#beyondMemory;
    this.#hasCrashed = true;
  }

  crashed(): void {
    this.#hasCrashed = true;
  }

  /** What it wrote as an error may tell why it will end. */
  noteError(text: string): void {
    if (heapIsFull.test(text)) this.#reason ??= this.#beyondMemory;
  }

  /** `how` is what the system says of it. */
  tell(how: string): string {
    return this.#reason ?? how;
  }
}
