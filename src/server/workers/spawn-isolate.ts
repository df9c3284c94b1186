import { spawn, type ChildProcess } from "node:child_process";
import { writeFile } from "node:fs";
import type { Socket } from "node:net";
import { ApiError } from "../../shared/api-error.js";

/** The kernel's choice when memory is short: an isolate rather than the daemon. */
const oomScoreAdjustment = "500";

/** Starts the process of an isolate, with one socket to it; its caller listens for "error". Throws when no descriptor is left for it. */
export function spawnIsolate(command: { file: string; args: string[] }, workingDirectory: string): { child: ChildProcess; socket: Socket } {
  // Not in a session of its own: kernels that share the processor by session would give the daemon no more than one isolate gets.
  const child = spawn(command.file, command.args, { env: {}, cwd: workingDirectory, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const socket = socketOf(child);
  if (child.pid !== undefined) writeFile(`/proc/${child.pid}/oom_score_adj`, oomScoreAdjustment, () => undefined);
  return { child, socket };
}

/** Throws when the daemon had no descriptor left for it. */
function socketOf(child: ChildProcess): Socket {
  const socket = (child.stdio as ChildProcess["stdio"] | undefined)?.[3];
  if (socket) return socket as Socket;
  // Told once more as an event, when nobody is left to hear it.
  child.removeAllListeners("error").on("error", () => undefined);
  throw new ApiError("WORKER_UNAVAILABLE", "The daemon has too many files open to start the worker.", { retryAfterSeconds: 1 });
}
