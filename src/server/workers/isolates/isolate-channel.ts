import { performance } from "node:perf_hooks";
import { Socket, type OnReadOpts } from "node:net";
import { FrameReader, type FrameHandler } from "../protocol/frame-reader.js";
import { writeFramesTo, type FrameWriter } from "../protocol/frame-writer.js";

/** Limit of unread bytes in an isolate's channel; further calls wait in the worker's queue. */
const maximumQueuedBytes = 4 * 1024 * 1024;

/** An isolate that does not respond to a ping within this time is blocked. */
const pingTimeoutMs = 1000;
/** The ping timeout when all calls have passed their deadlines. Shorter, because killing the isolate fails no further request. */
const overduePingTimeoutMs = 500;

interface ChannelEvents {
  readonly onFrame: FrameHandler;
  /** Called after all frames of one read. Returns true while their bytes are still in use. */
  readonly onRead: () => boolean;
  /** Called when the socket has drained. */
  readonly onDrain: () => void;
  readonly onClose: () => void;
  /** Called when the isolate violates the protocol, with the reason; no frames follow. */
  readonly onViolation: (reason: string) => void;
}

/** The daemon's end of the socket pair with an isolate. */
export class IsolateChannel {
  readonly writer: FrameWriter;
  /** Resolves when the socket is closed and all its data is processed. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #heardMs = 0;

  /** Takes ownership of the socket's handle: `given` must not be used afterwards. */
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
      // Processed before any other data, after the caller has set up its handlers.
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

  /** Time of the last read, on the clock of `performance.now()`. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** Restarts the measurement of silence. */
  restartClock(): void {
    this.#heardMs = performance.now();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/**
 * Returns the text of protocol errors, which are plain Errors. Other errors come from parsers and name internal buffers, so clients must
 * not see them.
 */
function violationOf(error: unknown): string {
  return error instanceof Error && error.constructor === Error ? error.message : "the isolate sent a malformed frame";
}

/** Private fields of node:net's Socket. Their names have not changed since its first releases. */
interface Inner {
  _handle: object | null;
}

/**
 * Moves a socket's handle to a new socket that reads into one buffer; read pending data first. Public `onread` works only with `connect`,
 * and these sockets are accepted. Without it, each read allocates 64 KB and reads no more.
 */
function adoptSocket(socket: Socket, onread: OnReadOpts): Socket {
  const inner = socket as unknown as Inner;
  // oxlint-disable-next-line no-underscore-dangle -- Node has no public API for this
  const { _handle: handle } = inner;
  const options: object = { handle, onread, readable: true, writable: true };
  const adopted = new Socket(options);
  // oxlint-disable-next-line no-underscore-dangle -- one handle has one socket
  inner._handle = null;
  // The spawned process counts as closed when its original socket is.
  adopted.once("close", () => socket.destroy());
  return adopted;
}

/**
 * Checks that an isolate's event loop runs: one ping at a time, sent after the frames whose processing it proves. Each check has a deadline
 * on the clock of `performance.now()`.
 */
export class LivenessProbe {
  readonly #sendPing: () => void;
  #sentMs: number | undefined;
  #deadlineMs = Infinity;
  /** Deadline of checks requested while a ping was pending: its response does not cover them. */
  #nextDeadlineMs: number | undefined;
  /** Callbacks for the next response. */
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

  /** Sends a ping; resolves with the response. */
  answered(): Promise<void> {
    this.ask(Infinity);
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  /** Handles a response. Throws when no ping is pending. */
  onPong(): void {
    if (this.#sentMs === undefined) throw new Error("the isolate responded to a ping that the daemon did not send");
    this.#sentMs = undefined;
    for (const listener of this.#listeners.splice(0)) listener();
    const next = this.#nextDeadlineMs;
    this.#nextDeadlineMs = undefined;
    if (next !== undefined) this.#send(next);
  }

  /**
   * Whether the event loop is blocked, as by an endless loop or a blocking system call. A long computation has until its call's deadline,
   * or less when that call was given up and others wait.
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
