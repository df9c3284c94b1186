import type { IncomingMessage } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { discardBody } from "../web/discard-body.js";
import type { LazyBody } from "../web/lazy-request.js";

interface Waiter {
  resolve(chunk: Buffer | undefined): void;
  reject(error: unknown): void;
}

/** The body of a message for a request that plugins see: nothing of it is read before somebody asks, and then no faster than asked for. */
export class MessageBody implements LazyBody {
  /** It comes when it is asked for. */
  readonly inline = undefined;
  readonly #message: IncomingMessage;
  readonly #maximumBytes: number;
  readonly #chunks: Buffer[] = [];
  #isTouched = false;
  #hasEnded = false;
  #failure: unknown;
  #waiter: Waiter | undefined;
  #receivedBytes = 0;

  /** A body beyond `maximumBytes` cannot be read: whoever tries gets PAYLOAD_TOO_LARGE. */
  constructor(message: IncomingMessage, maximumBytes: number) {
    this.#message = message;
    this.#maximumBytes = maximumBytes;
  }

  /** Whether a request has one; what comes with a GET has no meaning, and `Request` refuses it. */
  static isIn({ method, headers }: IncomingMessage): boolean {
    if (method === "GET" || method === "HEAD") return false;
    return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  }

  /** Somebody has begun to read it. */
  get isTouched(): boolean {
    return this.#isTouched;
  }

  async collect(): Promise<Uint8Array> {
    const chunks: Buffer[] = [];
    for (let chunk = await this.#next(); chunk; chunk = await this.#next()) chunks.push(chunk);
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  }

  toStream(): ReadableStream<Uint8Array> {
    this.#begin();
    return new ReadableStream({
      type: "bytes",
      pull: async (controller) => {
        const chunk = await this.#next();
        if (chunk) return controller.enqueue(new Uint8Array(chunk));
        controller.close();
        controller.byobRequest?.respond(0);
      },
      cancel: () => this.#discard(),
    });
  }

  #begin(): void {
    if (this.#isTouched) return;
    this.#isTouched = true;
    const message = this.#message;
    if (message.readableDidRead || message.destroyed) {
      this.#failure = new TypeError("The body went on with the request: it can no longer be read here.");
      return;
    }
    message.on("data", this.#onData);
    message.once("end", () => this.#end());
    message.once("error", () => this.#fail(gone()));
    message.once("close", () => this.#fail(gone()));
    message.pause();
  }

  #next(): Promise<Buffer | undefined> {
    this.#begin();
    const chunk = this.#chunks.shift();
    if (chunk) return Promise.resolve(chunk);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#message.resume();
    });
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#maximumBytes) {
      this.#fail(
        new ApiError("PAYLOAD_TOO_LARGE", `The request body is larger than the ${this.#maximumBytes} bytes that plugins may read.`),
      );
      this.#discard();
      return;
    }
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter) waiter.resolve(chunk);
    else this.#chunks.push(chunk);
    this.#message.pause();
  };

  #end(): void {
    this.#hasEnded = true;
    this.#waiter?.resolve(undefined);
    this.#waiter = undefined;
  }

  #fail(error: unknown): void {
    if (this.#hasEnded || this.#failure !== undefined) return;
    this.#failure = error;
    this.#waiter?.reject(error);
    this.#waiter = undefined;
  }

  /** Nobody wants the rest: it is read so that its connection can carry the next request. */
  #discard(): void {
    this.#message.removeListener("data", this.#onData);
    discardBody(this.#message);
  }
}

function gone(): DOMException {
  return new DOMException("The client stopped sending its request.", "AbortError");
}
