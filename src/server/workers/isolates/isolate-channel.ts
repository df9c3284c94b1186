import { performance } from "node:perf_hooks";
import { Socket, type OnReadOpts } from "node:net";
import { FrameReader, type FrameHandler } from "../protocol/frame-reader.js";
import { writeFramesTo, type FrameWriter } from "../protocol/frame-writer.js";

/**
 * Maximum number of bytes that the daemon has sent and the isolate has not read. Above this number, calls wait in the queue of the worker
 * version.
 */
const maximumQueuedBytes = 4 * 1024 * 1024;

/** Maximum time in ms for the response to a ping. Afterwards the isolate counts as blocked. */
const pingTimeoutMs = 1000;
/**
 * Maximum time in ms for the response to a ping if the isolate has no running calls. Shorter than `pingTimeoutMs`, because killing this
 * isolate makes no other call fail.
 */
const overduePingTimeoutMs = 500;

interface ChannelEvents {
  readonly onFrame: FrameHandler;
  /** Called after all frames of one read. Returns true if a client's socket still uses bytes of the read buffer. */
  readonly onRead: () => boolean;
  /** Called when the socket accepts data again. */
  readonly onDrain: () => void;
  readonly onClose: () => void;
  /** Called with the reason if the isolate violates the protocol. The channel then processes no more frames. */
  readonly onViolation: (reason: string) => void;
}

/** The daemon's side of the socket to an isolate. Passes received frames to `onFrame`, and stops at the first violation of the protocol. */
export class IsolateChannel {
  readonly writer: FrameWriter;
  /** Resolves when the socket is closed and all received bytes are processed. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #lastReadMs = 0;

  /** Moves the handle of the socket `given` to a new socket. The caller must not use `given` afterwards. */
  constructor(given: Socket, events: ChannelEvents) {
    const reader = new FrameReader(events.onFrame);
    const read = (count: number): boolean => {
      this.#lastReadMs = performance.now();
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
      // Processes the bytes that arrived earlier. Waits until the caller has returned, so that the caller can first set up its handlers.
      process.nextTick(() => read(0));
    }
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

  /** Time of the last read, by the clock of `performance.now()`. */
  get lastReadMs(): number {
    return this.#lastReadMs;
  }

  /** Sets the time of the last read to now. Otherwise an idle isolate would count as silent at its next call. */
  restartClock(): void {
    this.#lastReadMs = performance.now();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/**
 * Returns the message of a plain `Error`, which reports a violation of the protocol. Replaces the messages of other errors, because parsers
 * mention internal buffers.
 */
function violationOf(error: unknown): string {
  return error instanceof Error && error.constructor === Error ? error.message : "the isolate sent a malformed frame";
}

/** Private fields of `Socket` in Node.js. Their names are the same in all supported versions. */
interface Inner {
  _handle: object | null;
}

/**
 * Moves the handle of a socket to a new socket that reads into one buffer. Otherwise Node.js allocates 64 KB per read. The public option
 * `onread` works only with `connect`. The caller must first read all pending bytes.
 */
function adoptSocket(socket: Socket, onread: OnReadOpts): Socket {
  const inner = socket as unknown as Inner;
  // oxlint-disable-next-line no-underscore-dangle -- Node has no public API for this
  const { _handle: handle } = inner;
  const options: object = { handle, onread, readable: true, writable: true };
  const adopted = new Socket(options);
  // oxlint-disable-next-line no-underscore-dangle -- one handle has one socket
  inner._handle = null;
  // Closes the original socket too, because Node.js waits for this before it reports the child process as closed.
  adopted.once("close", () => socket.destroy());
  return adopted;
}

/**
 * Finds a blocked event loop in an isolate. Only one ping is pending at a time. The isolate responds to a ping after all earlier frames.
 * Each check has a deadline by the clock of `performance.now()`.
 */
export class LivenessProbe {
  readonly #sendPing: () => void;
  #sentMs: number | undefined;
  #deadlineMs = Infinity;
  /**
   * Earliest deadline of the checks that were requested while a ping was pending. The pending ping was sent before these checks, so the
   * checks need another ping.
   */
  #nextDeadlineMs: number | undefined;
  /** Functions that are called at the next response to a ping. */
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

  /** Sends a ping. Resolves when the isolate responds. */
  answered(): Promise<void> {
    this.ask(Infinity);
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  /** Handles the response to a ping. Throws when no ping is pending. */
  onPong(): void {
    if (this.#sentMs === undefined) throw new Error("the isolate responded to a ping that the daemon did not send");
    this.#sentMs = undefined;
    for (const listener of this.#listeners.splice(0)) listener();
    const next = this.#nextDeadlineMs;
    this.#nextDeadlineMs = undefined;
    if (next !== undefined) this.#send(next);
  }

  /**
   * Returns whether the event loop is blocked. A running call is allowed to block the event loop until the call's deadline. If no call runs
   * and other calls wait, the limit is 1 s without a response to a ping.
   */
  isBlocked(nowMs: number, { isWorking, hasWaitingCalls }: { isWorking: boolean; hasWaitingCalls: boolean }): boolean {
    const silentMs = this.#sentMs === undefined ? 0 : nowMs - this.#sentMs;
    if (hasWaitingCalls && !isWorking && silentMs >= pingTimeoutMs) return true;
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
