import type { IncomingMessage } from "node:http";
import { discardBody } from "../web/discard-body.js";
import { creditWindowBytes, FrameKind } from "./isolate/frames.js";
import type { FrameWriter } from "./isolate/frame-writer.js";

/** The body of a request on its way to an isolate: no faster than the isolate takes it. */
export class RequestStream {
  readonly #request: IncomingMessage;
  readonly #writer: FrameWriter;
  readonly #id: number;
  readonly #onBytes: (count: number) => boolean;
  /** Body bytes that the isolate still takes. */
  #credit = creditWindowBytes;
  #isStopped = false;

  /** `onBytes` hears how many bytes came, and says whether they may go on. */
  constructor(options: { request: IncomingMessage; writer: FrameWriter; id: number; onBytes: (count: number) => boolean }) {
    this.#request = options.request;
    this.#writer = options.writer;
    this.#id = options.id;
    this.#onBytes = options.onBytes;
    this.#request.on("data", this.#onData);
    this.#request.on("end", () => this.#close(FrameKind.End));
    this.#request.on("error", () => this.#close(FrameKind.Abort));
  }

  /** It is the client that is waited for. */
  get awaitsClient(): boolean {
    return !this.#request.complete && this.#credit > 0;
  }

  /** Throws when it is more than was used. */
  addCredit(bytes: number): void {
    this.#credit += bytes;
    if (bytes === 0 || this.#credit > creditWindowBytes) throw new Error("it gave credit that it does not have");
    if (this.#credit > 0) this.#request.resume();
  }

  /** The isolate gets no more of it: what still comes is thrown away. */
  stop(): void {
    this.#request.removeListener("data", this.#onData);
    discardBody(this.#request);
  }

  /** The isolate is told nothing any more. */
  detach(): void {
    this.#isStopped = true;
    this.stop();
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isStopped || !this.#onBytes(chunk.length)) return;
    this.#credit -= chunk.length;
    this.#writer.chunk(this.#id, chunk);
    if (this.#credit <= 0) this.#request.pause();
  };

  #close(kind: typeof FrameKind.End | typeof FrameKind.Abort): void {
    if (!this.#isStopped) this.#writer.empty(kind, this.#id);
  }
}
