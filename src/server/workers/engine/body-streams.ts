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
  /** Receives the size of each chunk; returns false to stop forwarding. */
  readonly onBytes: (count: number) => boolean;
}

/** Forwards a request body to an isolate, no faster than the isolate's credit and the bandwidth share allow. */
export class RequestStream {
  readonly #request: IncomingMessage;
  readonly #writer: FrameWriter;
  readonly #id: number;
  readonly #onBytes: (count: number) => boolean;
  /** Body bytes that the isolate still accepts. */
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

  /** True while the stream waits for the client or for its bandwidth share, not for the isolate. */
  get awaitsOthers(): boolean {
    return !this.#request.complete && (this.#credit > 0 || this.#lane.waitingBytes > 0);
  }

  /** Returns credit of the isolate. Throws when the isolate returns more than it received. */
  addCredit(bytes: number): void {
    const isMore = this.#credit + this.#lane.waitingBytes + bytes > creditWindowBytes;
    if (bytes === 0 || isMore) throw new Error("the isolate returned more credit than it received");
    this.#lane.ask(bytes);
  }

  /** Stops forwarding; discards the rest of the body. */
  stop(): void {
    this.#lane.close();
    this.#request.removeListener("data", this.#onData);
    discardBody(this.#request);
  }

  /** Stops forwarding and sends no further frame to the isolate. */
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

/**
 * Counts the body bytes of one response that the isolate is still allowed to send: the client's consumption and the bandwidth share set the
 * rate.
 */
export class ResponseWindow {
  readonly #lane: BandwidthShare;
  #leftBytes = creditWindowBytes;
  /** Bytes that the client took and that are not returned as credit yet. */
  #owedBytes = 0;

  /** `onCredit` returns credit to the isolate. */
  constructor({ pace, meter }: PacedWorker, onCredit: (bytes: number) => void) {
    this.#lane = pace.lane(meter, (bytes) => {
      this.#leftBytes += bytes;
      onCredit(bytes);
    });
  }

  /** True while the response waits for its bandwidth share, not for the isolate. */
  get isHeld(): boolean {
    return this.#lane.waitingBytes > 0;
  }

  /** Counts received bytes; returns false when the isolate exceeds its credit. */
  take(bytes: number): boolean {
    this.#leftBytes -= bytes;
    this.#owedBytes += bytes;
    return this.#leftBytes >= 0;
  }

  /** Returns credit for the bytes that the client took, once they are at least half a window. */
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
