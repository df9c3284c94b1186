import { ApiError } from "../../../shared/api-error.js";

const longestReason = 1024;

/** The step that an isolate is waited for on its way to serve: to be blank, then to have its app loaded. */
export class Deferred {
  #waiting: { name: "blank" | "loaded"; resolve: () => void; reject: (error: ApiError) => void } | undefined;

  get isPending(): boolean {
    return this.#waiting !== undefined;
  }

  /** Resolves with `done`; rejects with WORKER_START_FAILED. */
  begin(name: "blank" | "loaded"): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#waiting = { name, resolve, reject };
    });
  }

  /** Throws when it is not the step that is waited for. */
  done(name: "blank" | "loaded"): void {
    if (this.#waiting?.name !== name) throw new Error(`it reported to be ${name} at another time than its start`);
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  /** The app's code threw, as the isolate says: of its words nothing is sure. Throws when no app is being loaded. */
  fail({ message }: { message?: unknown }): void {
    if (this.#waiting?.name !== "loaded") throw new Error("it reported a failure to load while it loaded nothing");
    this.#reject(`. ${typeof message === "string" ? message.slice(0, longestReason) : ""}`);
  }

  /** The process is gone. */
  failToEnd(how: string): void {
    this.#reject(`: its process ${how}.`);
  }

  #reject(reason: string): void {
    this.#waiting?.reject(new ApiError("WORKER_START_FAILED", `The worker's code could not be loaded${reason}`));
    this.#waiting = undefined;
  }
}
