import { ApiError } from "../../shared/api-error.js";

const longestReason = 1024;

/** What an isolate is waited for on its way to serve: to be blank, then to have its app loaded. */
export class PendingStep {
  #waiting: { resolve: () => void; reject: (error: ApiError) => void } | undefined;

  get isPending(): boolean {
    return this.#waiting !== undefined;
  }

  /** Resolves with `done`; rejects with WORKER_START_FAILED. */
  begin(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  done(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  /** The app's code threw, as the isolate says: of its words nothing is sure. */
  fail({ message }: { message?: unknown }): void {
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
