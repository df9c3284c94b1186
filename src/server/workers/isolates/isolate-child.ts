import { writeFile } from "node:fs";
import type { Socket } from "node:net";
import { ApiError } from "../../../shared/api-error.js";
import { spawnProcess, type SpawnedProcess } from "../../platform/spawner/spawner.js";
import { standard } from "../../platform/spawner/messages.js";
import { channelDescriptor } from "../protocol/frames.js";

/** Value for `/proc/<pid>/oom_score_adj`. If memory is short, the kernel then kills an isolate before the daemon. */
const oomScoreAdjustment = "500";
/** Time in ms from the Terminate frame to SIGKILL. The worker's `onTerminate` can use 1 s of this time. */
const terminateTimeoutMs = 1500;

/** Matches the line that V8 writes to stderr when the heap is full. */
const heapIsFull = /^(?:#\s*)?fatal (?:error:|process|javascript).*out of memory/i;

/** The process of an isolate with its sockets: channel, stdout and stderr. */
export class IsolateChild {
  readonly pid: number;
  readonly socket: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /**
   * Resolves with the exit status or the signal when the process has ended. The daemon can still have unread output of the process;
   * `exited` waits until the output is read.
   */
  readonly ended: Promise<string>;
  /** Resolves when the process has exited and the daemon has read all its output. */
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

  /** Starts the process. Throws WORKER_UNAVAILABLE if the system cannot start a process, or if the daemon has no free file descriptor. */
  static async start(command: { file: string; args: string[] }, workingDirectory: string): Promise<IsolateChild> {
    const descriptors = [standard.output, standard.errors, channelDescriptor];
    try {
      return new IsolateChild(await spawnProcess({ ...command, workingDirectory, descriptors }));
    } catch (cause) {
      throw new ApiError("WORKER_UNAVAILABLE", "The daemon could not start a process for the worker. Retry after 1 second.", {
        retryAfterSeconds: 1,
        cause,
      });
    }
  }

  /** Stops reading the process's output. */
  closeOutput(): void {
    this.stdout.destroy();
    this.stderr.destroy();
  }

  kill(): void {
    this.#process.kill();
  }

  /** Sends SIGKILL if the process has not exited after `terminateTimeoutMs`. */
  killInTime(): void {
    const timer = setTimeout(() => this.kill(), terminateTimeoutMs);
    void this.exited.then(() => clearTimeout(timer));
  }
}

/**
 * The reason why the process of an isolate exited, as a text for clients and the operator. If no reason was recorded, the text is the exit
 * status.
 */
export class ExitReason {
  readonly #beyondMemory: string;
  #reason: string | undefined;
  #hasCrashed = false;

  constructor(memoryBytes: number) {
    this.#beyondMemory = `was ended because it reached its memory limit of ${Math.floor(memoryBytes / 1024 / 1024)} MB`;
  }

  /** True if the process exited by itself, or if the daemon killed it because of an error. */
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
    this.#reason = "was stopped by the daemon";
  }

  forced(because: string): void {
    this.#reason = `was killed because ${because}`;
    this.#hasCrashed = true;
  }

  beyondMemory(): void {
    this.#reason = this.#beyondMemory;
    this.#hasCrashed = true;
  }

  crashed(): void {
    this.#hasCrashed = true;
  }

  /** Records the memory limit as the exit reason if a line of the worker's error output reports a full heap. `text` is this line. */
  noteError(text: string): void {
    if (heapIsFull.test(text)) this.#reason ??= this.#beyondMemory;
  }

  /** Returns the recorded exit reason. Without a recorded reason, returns `how`, the exit status that the operating system reported. */
  reasonText(how: string): string {
    return this.#reason ?? how;
  }
}
