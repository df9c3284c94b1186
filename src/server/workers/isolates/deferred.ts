import { ApiError } from "../../../shared/api-error.js";

const longestReason = 1024;

/** The pending step of an isolate's start: "blank" (process ready), then "loaded" (worker imported). */
export class Deferred {
  #waiting: { name: "blank" | "loaded"; resolve: () => void; reject: (error: ApiError) => void } | undefined;

  get isPending(): boolean {
    return this.#waiting !== undefined;
  }

  /** Begins a step. Resolves when `done` is called for it; rejects with WORKER_START_FAILED. */
  begin(name: "blank" | "loaded"): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#waiting = { name, resolve, reject };
    });
  }

  /** Completes the step. Throws when another step is pending. */
  done(name: "blank" | "loaded"): void {
    if (this.#waiting?.name !== name) throw new Error(`the isolate reported ${name} outside of that start step`);
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  /** Fails the step because the worker's code threw. The message is untrusted input. Throws when no worker is being loaded. */
  fail({ message }: { message?: unknown }): void {
    if (this.#waiting?.name !== "loaded") throw new Error("the isolate reported a load failure while it loaded no worker");
    this.#reject(`. ${typeof message === "string" ? message.slice(0, longestReason) : ""}`);
  }

  /** Fails the step because the process ended. */
  failToEnd(how: string): void {
    this.#reject(`: its process ${how}.`);
  }

  #reject(reason: string): void {
    this.#waiting?.reject(new ApiError("WORKER_START_FAILED", `The worker's code could not be loaded${reason}`));
    this.#waiting = undefined;
  }
}
