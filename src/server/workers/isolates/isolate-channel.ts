import { performance } from "node:perf_hooks";
import type { Socket } from "node:net";
import { adoptSocket } from "./adopt-socket.js";
import { FrameReader, type FrameHandler } from "../protocol/frame-reader.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import { writeFramesTo } from "../protocol/write-frames-to.js";

/** What may wait in the channel of an isolate that does not read; more calls wait in the worker's queue. */
const maximumQueuedBytes = 4 * 1024 * 1024;

export interface ChannelEvents {
  readonly onFrame: FrameHandler;
  /** All frames that came together were handed over. True when their bytes are still being used. */
  readonly onRead: () => boolean;
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

  /** Takes the socket over: the one that is given here is of no use any more. */
  constructor(given: Socket, events: ChannelEvents) {
    const reader = new FrameReader(events.onFrame);
    const read = (count: number): boolean => {
      this.#heardMs = performance.now();
      try {
        reader.read(count);
      } catch (error) {
        socket.destroy();
        events.onViolation(violationOf(error));
      }
      if (events.onRead()) reader.keep();
      return true;
    };
    const early = given.read() as Buffer | null;
    if (early) {
      reader.put(early);
      // Before anything else comes, once whoever listens is ready.
      process.nextTick(() => read(0));
    }
    // From now on the next bytes belong behind those.
    const socket = adoptSocket(given, { buffer: () => reader.room(), callback: read });
    this.#socket = socket;
    this.writer = writeFramesTo(socket);
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
}

/** Our own sentences are plain errors; those of parsers speak of our buffers, and clients would read them. */
function violationOf(error: unknown): string {
  return error instanceof Error && error.constructor === Error ? error.message : "it sent a malformed frame";
}
