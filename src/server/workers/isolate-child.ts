import { spawn, type ChildProcess } from "node:child_process";
import { writeFile } from "node:fs";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { ApiError } from "../../shared/api-error.js";

/** The kernel's choice when memory is short: an isolate rather than the daemon. */
const oomScoreAdjustment = "500";
/** From the order to terminate to SIGKILL; the app's onTerminate has one second of it. */
const terminateTimeoutMs = 1500;

interface IsolateChildOptions {
  readonly command: { file: string; args: string[] };
  readonly workingDirectory: string;
  /** It could not be started. */
  readonly onFailure: (how: string) => void;
  /** It ended; what it said before may still be on its way. */
  readonly onEnd: (how: string) => void;
}

/** The process of an isolate, with one socket to it. */
export class IsolateChild {
  readonly socket: Socket;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** It ended, and its output has been read. */
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;

  /** Throws when the daemon has no descriptor left for it. */
  constructor({ command, workingDirectory, onFailure, onEnd }: IsolateChildOptions) {
    // Not in a session of its own: kernels that share the processor by session would give the daemon no more than one isolate gets.
    const child = spawn(command.file, command.args, { env: {}, cwd: workingDirectory, stdio: ["ignore", "pipe", "pipe", "pipe"] });
    this.#process = child;
    this.socket = socketOf(child);
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    this.exited = new Promise((resolve) => child.once("close", () => resolve()));
    child.once("error", (error) => onFailure(`could not be started: ${error.message}`));
    child.once("exit", (code, signal) => onEnd(signal ? `was ended by ${signal}` : `ended with status ${code}`));
    if (child.pid !== undefined) writeFile(`/proc/${child.pid}/oom_score_adj`, oomScoreAdjustment, () => undefined);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** Gives it the time that it has after the order to terminate. */
  killInTime(): void {
    const timer = setTimeout(() => this.kill(), terminateTimeoutMs);
    void this.exited.then(() => clearTimeout(timer));
  }
}

function socketOf(child: ChildProcess): Socket {
  const socket = (child.stdio as ChildProcess["stdio"] | undefined)?.[3];
  if (socket) return socket as Socket;
  // Told once more as an event, when nobody is left to hear it.
  child.removeAllListeners("error").on("error", () => undefined);
  throw new ApiError("WORKER_UNAVAILABLE", "The daemon has too many files open to start the worker.", { retryAfterSeconds: 1 });
}
