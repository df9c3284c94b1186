import { performance } from "node:perf_hooks";
import { Socket, type OnReadOpts } from "node:net";
import { FrameReader, type FrameHandler } from "../protocol/frame-reader.js";
import { writeFramesTo, type FrameWriter } from "../protocol/frame-writer.js";

/** What may wait in the channel of an isolate that does not read; more calls wait in the worker's queue. */
const maximumQueuedBytes = 4 * 1024 * 1024;

/** An isolate that does not answer a ping within this time is blocked. */
const pingTimeoutMs = 1000;
/** The same for one whose only calls have run out of their time: nobody loses anything with it, and somebody may ask again at once. */
const overduePingTimeoutMs = 500;

interface ChannelEvents {
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

/** Fields that node:net keeps to itself, under the names that they have had since its first releases. */
interface Inner {
  _handle: object | null;
}

/**
 * A socket on the connection of another one that reads into buffers of ours; take what the other one has read before. The public way,
 * `onread`, is only for sockets that connect, and those to isolates come in at a server of ours; without it each read allocates 64 KB,
 * and takes no more than that.
 */
function adoptSocket(socket: Socket, onread: OnReadOpts): Socket {
  const inner = socket as unknown as Inner;
  // oxlint-disable-next-line no-underscore-dangle -- as above
  const { _handle: handle } = inner;
  const options: object = { handle, onread, readable: true, writable: true };
  const adopted = new Socket(options);
  // oxlint-disable-next-line no-underscore-dangle -- one handle has one socket
  inner._handle = null;
  // The process counts as closed when the socket that it came with is.
  adopted.once("close", () => socket.destroy());
  return adopted;
}

/**
 * Asks an isolate whether its event loop still turns: one ping at a time, sent behind what it is to prove. Each question has a
 * deadline, on the clock of `performance.now()`.
 */
export class LivenessProbe {
  readonly #sendPing: () => void;
  #sentMs: number | undefined;
  #deadlineMs = Infinity;
  /** Of questions that came while a ping was under way: its answer says nothing about them. */
  #nextDeadlineMs: number | undefined;
  /** Who waits for the next answer. */
  readonly #listeners: (() => void)[] = [];

  constructor(sendPing: () => void) {
    this.#sendPing = sendPing;
  }

  get isWaiting(): boolean {
    return this.#sentMs !== undefined;
  }

  ask(deadlineMs: number): void {
    if (this.#sentMs === undefined) this.#send(deadlineMs);
    else this.#nextDeadlineMs = Math.min(deadlineMs, this.#nextDeadlineMs ?? Infinity);
  }

  /** Asks, and resolves when it answers. */
  answered(): Promise<void> {
    this.ask(Infinity);
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  /** Throws when nobody asked. */
  onPong(): void {
    if (this.#sentMs === undefined) throw new Error("it answered a ping that nobody sent");
    this.#sentMs = undefined;
    for (const listener of this.#listeners.splice(0)) listener();
    const next = this.#nextDeadlineMs;
    this.#nextDeadlineMs = undefined;
    if (next !== undefined) this.#send(next);
  }

  /**
   * Whether the event loop does not come back: an endless loop or a blocked system call never would. A long computation has as much
   * time as its call had, and less only when nobody waits for it but others for the loop.
   */
  isBlocked(nowMs: number, { isWorking, isInTheWay }: { isWorking: boolean; isInTheWay: boolean }): boolean {
    const silentMs = this.#sentMs === undefined ? 0 : nowMs - this.#sentMs;
    if (isInTheWay && !isWorking && silentMs >= pingTimeoutMs) return true;
    const graceMs = isWorking ? pingTimeoutMs : overduePingTimeoutMs;
    const deadlineMs = Math.min(this.#deadlineMs, this.#nextDeadlineMs ?? Infinity);
    return this.isWaiting && silentMs >= graceMs && nowMs - graceMs > deadlineMs;
  }

  #send(deadlineMs: number): void {
    this.#sentMs = performance.now();
    this.#deadlineMs = deadlineMs;
    this.#sendPing();
  }
}
