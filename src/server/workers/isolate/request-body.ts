import type { LazyBody } from "../../web/lazy-request.js";
import { creditWindowBytes } from "../protocol/frames.js";

/** Flow control of a streamed request body: the messages of the isolate to the daemon about the body. */
export interface BodyFlow {
  giveCredit(bytes: number): void;
  stop(): void;
}

interface Waiter {
  resolve(chunk: Uint8Array | undefined): void;
  reject(error: unknown): void;
}

/** A request body that the daemon sends. Holds at most one credit window of unread bytes. */
export class RequestBody implements LazyBody {
  readonly #flow: BodyFlow | undefined;
  readonly #chunks: Uint8Array[] = [];
  #hasEnded: boolean;
  #failure: string | undefined;
  #waiter: Waiter | undefined;
  #owedCredit = 0;

  /** Keeps the bytes in `source` and in each call of `push` without a copy. The caller must not change these bytes afterwards. */
  constructor(source: Uint8Array | BodyFlow) {
    if (source instanceof Uint8Array) {
      this.#flow = undefined;
      this.#chunks.push(source);
      this.#hasEnded = true;
    } else {
      this.#flow = source;
      this.#hasEnded = false;
    }
  }

  /** The complete body if it was in the Request frame. Undefined for a streamed body. */
  get inline(): Uint8Array | undefined {
    return this.#flow ? undefined : this.#chunks[0];
  }

  /** False if no more bytes can arrive. The daemon then accepts no frames about this body, because the call has possibly ended. */
  get #isFlowing(): boolean {
    return !this.#hasEnded && this.#failure === undefined;
  }

  push(chunk: Uint8Array): void {
    if (!this.#isFlowing) return;
    const waiter = this.#waiter;
    if (!waiter) {
      this.#chunks.push(chunk);
      return;
    }
    this.#waiter = undefined;
    this.#consumed(chunk.byteLength);
    waiter.resolve(chunk);
  }

  end(): void {
    this.#hasEnded = true;
    this.#waiter?.resolve(undefined);
    this.#waiter = undefined;
  }

  /** Makes the pending read fail with an AbortError. Without a pending read, makes the next read fail. */
  fail(reason: string): void {
    if (this.#hasEnded) return;
    this.#failure = reason;
    this.#waiter?.reject(abortError(reason));
    this.#waiter = undefined;
  }

  /** Resolves with the next chunk, or with undefined at the end. Rejects if the client has disconnected. */
  next(): Promise<Uint8Array | undefined> {
    const chunk = this.#chunks.shift();
    if (chunk) {
      this.#consumed(chunk.byteLength);
      return Promise.resolve(chunk);
    }
    if (this.#failure !== undefined) return Promise.reject(abortError(this.#failure));
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  async collect(): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    for (let chunk = await this.next(); chunk; chunk = await this.next()) chunks.push(chunk);
    return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
  }

  toStream(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      type: "bytes",
      pull: async (controller) => {
        const chunk = await this.next();
        if (chunk) {
          if (chunk.byteLength > 0) controller.enqueue(chunk);
          return;
        }
        controller.close();
        controller.byobRequest?.respond(0);
      },
      cancel: () => {
        if (this.#isFlowing) this.#flow?.stop();
      },
    });
  }

  #consumed(bytes: number): void {
    if (!this.#flow || !this.#isFlowing) return;
    this.#owedCredit += bytes;
    if (this.#owedCredit < creditWindowBytes / 2) return;
    this.#flow.giveCredit(this.#owedCredit);
    this.#owedCredit = 0;
  }
}

/**
 * Creates the error of an aborted body. Called only for a read of the worker, because the stack trace of an error takes more CPU time than
 * a whole request.
 */
function abortError(reason: string): DOMException {
  return new DOMException(reason, "AbortError");
}
