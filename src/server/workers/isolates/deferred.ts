import { ApiError } from "../../../shared/api-error.js";

const longestReason = 1024;

/** The pending step of an isolate's start. The start has two steps: the process becomes ready, then the isolate imports the worker. */
export class Deferred {
  #waiting: { name: "ready" | "loaded"; resolve: () => void; reject: (error: ApiError) => void } | undefined;

  get isPending(): boolean {
    return this.#waiting !== undefined;
  }

  /** Begins a step. Resolves at the call of `done`. Rejects with WORKER_START_FAILED if the step fails. */
  begin(name: "ready" | "loaded"): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#waiting = { name, resolve, reject };
    });
  }

  /** Completes the pending step. Throws if `name` is not the pending step. */
  done(name: "ready" | "loaded"): void {
    if (this.#waiting?.name !== name) throw new Error(`the isolate sent a ${name} frame outside of its start`);
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  /**
   * Makes the step fail, because the worker's code threw an error. `message` comes from the isolate and is not trustworthy. Throws if no
   * worker is being loaded.
   */
  fail({ message }: { message?: unknown }): void {
    if (this.#waiting?.name !== "loaded") throw new Error("the isolate reported a load failure while it loaded no worker");
    this.#reject(`. ${typeof message === "string" ? message.slice(0, longestReason) : ""}`);
  }

  /** Makes the pending step fail, because the process has exited. `how` is the exit reason. */
  failToEnd(how: string): void {
    this.#reject(`: its process ${how}.`);
  }

  #reject(reason: string): void {
    this.#waiting?.reject(new ApiError("WORKER_START_FAILED", `The worker's code could not be loaded${reason}`));
    this.#waiting = undefined;
  }
}
