import type { IncomingMessage } from "node:http";
import { discardBody } from "../../web/request-body.js";
import { creditWindowBytes, FrameKind } from "../protocol/frames.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import type { BandwidthClient, BandwidthShare } from "./bandwidth-scheduler.js";

interface RequestStreamOptions {
  readonly request: IncomingMessage;
  readonly writer: FrameWriter;
  readonly id: number;
  readonly worker: BandwidthClient;
  /** Receives the size of each chunk. If the function returns false, the stream stops. */
  readonly onBytes: (count: number) => boolean;
}

/** Forwards a request body to an isolate within the isolate's credit and the bandwidth share. */
export class RequestStream {
  readonly #request: IncomingMessage;
  readonly #writer: FrameWriter;
  readonly #id: number;
  readonly #onBytes: (count: number) => boolean;
  /** Number of body bytes that the isolate still accepts. */
  #credit = creditWindowBytes;
  readonly #share: BandwidthShare;
  #isStopped = false;

  constructor(options: RequestStreamOptions) {
    this.#request = options.request;
    this.#writer = options.writer;
    this.#id = options.id;
    this.#onBytes = options.onBytes;
    this.#share = options.worker.scheduler.createShare(options.worker.meter, (bytes) => {
      this.#credit += bytes;
      if (this.#credit > 0) this.#request.resume();
    });
    this.#request.on("data", this.#onData);
    this.#request.on("end", () => this.#close(FrameKind.End));
    this.#request.on("error", () => this.#close(FrameKind.Abort));
  }

  /** True while the stream waits for the client or for bandwidth. False while it waits for the isolate. */
  get waitsForOthers(): boolean {
    return !this.#request.complete && (this.#credit > 0 || this.#share.waitingBytes > 0);
  }

  /** Adds credit that the isolate has returned. Throws if the isolate returns more bytes than it has received. */
  addCredit(bytes: number): void {
    const isMore = this.#credit + this.#share.waitingBytes + bytes > creditWindowBytes;
    if (bytes === 0 || isMore) throw new Error("the isolate returned more credit than it received");
    this.#share.ask(bytes);
  }

  /** Stops forwarding and discards the rest of the body. */
  stop(): void {
    this.#share.close();
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
 * Number of body bytes of one response that the isolate can still send. The isolate gets new credit as fast as the client and the scheduler
 * accept bytes.
 */
export class ResponseWindow {
  readonly #share: BandwidthShare;
  #leftBytes = creditWindowBytes;
  /** Number of bytes that the client has received, and for which the daemon has not sent new credit to the isolate yet. */
  #owedBytes = 0;

  /** `onCredit` sends credit, in bytes, to the isolate. */
  constructor({ scheduler, meter }: BandwidthClient, onCredit: (bytes: number) => void) {
    this.#share = scheduler.createShare(meter, (bytes) => {
      this.#leftBytes += bytes;
      onCredit(bytes);
    });
  }

  /** True while the response waits for bandwidth. False while it waits for the isolate. */
  get isHeld(): boolean {
    return this.#share.waitingBytes > 0;
  }

  /** Counts body bytes from the isolate. Returns false if the isolate has sent more bytes than its credit. */
  take(bytes: number): boolean {
    this.#leftBytes -= bytes;
    this.#owedBytes += bytes;
    return this.#leftBytes >= 0;
  }

  /**
   * Sends new credit for the bytes that the client has received. Waits until their number is at least half of `creditWindowBytes`, so that
   * fewer frames are needed.
   */
  open(): void {
    if (this.#owedBytes < creditWindowBytes / 2) return;
    const bytes = this.#owedBytes;
    this.#owedBytes = 0;
    this.#share.ask(bytes);
  }

  close(): void {
    this.#share.close();
  }
}
