import { performance } from "node:perf_hooks";
import type { Socket } from "node:net";
import { FrameReader, type FrameHandler } from "./isolate/frame-reader.js";
import { FrameWriter } from "./isolate/frame-writer.js";

/** What may wait in the channel of an isolate that does not read; more calls wait in the worker's queue. */
const maximumQueuedBytes = 4 * 1024 * 1024;

export interface ChannelEvents {
  readonly onFrame: FrameHandler;
  /** All frames that came together were handed over. */
  readonly onRead: () => void;
  /** It takes more again. */
  readonly onDrain: () => void;
  readonly onClose: () => void;
  /** The other side broke the rules, as the sentence says; nothing more comes. */
  readonly onViolation: (reason: string) => void;
}

/** Our end of the socket pair with an isolate: frames in, frames out. */
export class IsolateChannel {
  readonly writer: FrameWriter;
  /** All that came was read, and nothing more comes. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #heardMs = 0;

  constructor(socket: Socket, events: ChannelEvents) {
    this.#socket = socket;
    this.writer = new FrameWriter((pieces) => this.#send(pieces));
    const reader = new FrameReader(events.onFrame);
    socket.on("data", (chunk: Buffer) => {
      if (socket.destroyed) return;
      this.#heardMs = performance.now();
      try {
        reader.read(chunk);
      } catch (error) {
        socket.destroy();
        events.onViolation(error instanceof Error ? error.message : "it broke the rules of the channel");
      }
      events.onRead();
    });
    socket.on("error", () => undefined);
    socket.on("drain", events.onDrain);
    socket.on("close", events.onClose);
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
  }

  get isFull(): boolean {
    return this.#socket.writableLength >= maximumQueuedBytes || this.#socket.destroyed;
  }

  /** When something last came, on the clock of `performance.now()`. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** The time that it is silent counts from now. */
  restartClock(): void {
    this.#heardMs = performance.now();
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(pieces: Uint8Array[]): void {
    if (!this.#socket.writable) return;
    if (pieces.length === 1) {
      this.#socket.write(pieces[0] as Uint8Array);
      return;
    }
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
  }
}
