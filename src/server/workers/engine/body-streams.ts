import type { IncomingMessage } from "node:http";
import { discardBody } from "../../web/request-body.js";
import { creditWindowBytes, FrameKind } from "../protocol/frames.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import type { PacedWorker, BandwidthShare } from "./bandwidth-scheduler.js";

interface RequestStreamOptions {
  readonly request: IncomingMessage;
  readonly writer: FrameWriter;
  readonly id: number;
  readonly worker: PacedWorker;
  /** Hears how many bytes came, and says whether they may go on. */
  readonly onBytes: (count: number) => boolean;
}

/** The body of a request on its way to an isolate: no faster than the isolate, and whoever shares the machine, let it through. */
export class RequestStream {
  readonly #request: IncomingMessage;
  readonly #writer: FrameWriter;
  readonly #id: number;
  readonly #onBytes: (count: number) => boolean;
  /** Body bytes that the isolate still takes. */
  #credit = creditWindowBytes;
  readonly #lane: BandwidthShare;
  #isStopped = false;

  constructor(options: RequestStreamOptions) {
    this.#request = options.request;
    this.#writer = options.writer;
    this.#id = options.id;
    this.#onBytes = options.onBytes;
    this.#lane = options.worker.pace.lane(options.worker.meter, (bytes) => {
      this.#credit += bytes;
      if (this.#credit > 0) this.#request.resume();
    });
    this.#request.on("data", this.#onData);
    this.#request.on("end", () => this.#close(FrameKind.End));
    this.#request.on("error", () => this.#close(FrameKind.Abort));
  }

  /** It is not the isolate that is waited for. */
  get awaitsOthers(): boolean {
    return !this.#request.complete && (this.#credit > 0 || this.#lane.waitingBytes > 0);
  }

  /** Throws when it is more than was used. */
  addCredit(bytes: number): void {
    const isMore = this.#credit + this.#lane.waitingBytes + bytes > creditWindowBytes;
    if (bytes === 0 || isMore) throw new Error("it gave credit that it does not have");
    this.#lane.ask(bytes);
  }

  /** The isolate gets no more of it: what still comes is thrown away. */
  stop(): void {
    this.#lane.close();
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

/** Body bytes of one answer that its isolate may still send: as many as its client, and whoever shares the machine, let through. */
export class ResponseWindow {
  readonly #lane: BandwidthShare;
  #leftBytes = creditWindowBytes;
  /** Taken by the client, and not given back yet. */
  #owedBytes = 0;

  /** `onCredit` gives bytes back to the isolate. */
  constructor({ pace, meter }: PacedWorker, onCredit: (bytes: number) => void) {
    this.#lane = pace.lane(meter, (bytes) => {
      this.#leftBytes += bytes;
      onCredit(bytes);
    });
  }

  /** Something else than the isolate is waited for. */
  get isHeld(): boolean {
    return this.#lane.waitingBytes > 0;
  }

  /** False when it sent more than it may. */
  take(bytes: number): boolean {
    this.#leftBytes -= bytes;
    this.#owedBytes += bytes;
    return this.#leftBytes >= 0;
  }

  /** The client takes more. */
  open(): void {
    if (this.#owedBytes < creditWindowBytes / 2) return;
    const bytes = this.#owedBytes;
    this.#owedBytes = 0;
    this.#lane.ask(bytes);
  }

  close(): void {
    this.#lane.close();
  }
}
