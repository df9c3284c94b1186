import { Socket, type OnReadOpts, type SocketConstructorOpts } from "node:net";
import { FrameReader, type FrameHandler } from "../protocol/frame-reader.js";
import { channelDescriptor, FrameKind, LogCode } from "../protocol/frames.js";
import { writeFramesTo, type FrameWriter } from "../protocol/frame-writer.js";
import { cutText } from "../protocol/log-text.js";
import { describeError } from "./stack-traces.js";
import { OutputLimiter } from "../protocol/output-limiter.js";

/** Maximum number of output bytes that wait for the daemon. The isolate drops further output. */
const mostQueuedBytes = 1024 * 1024;

/** The isolate's side of the socket to the daemon. Flushes the responses to all frames of one read together. */
export class DaemonChannel {
  readonly writer: FrameWriter;
  readonly socket: Socket;
  readonly #isSettled: () => boolean;

  constructor(options: {
    onFrame: FrameHandler;
    /** Returns true if no request is waiting for its response. */
    isSettled: () => boolean;
    /** Called after the daemon has closed the socket. */
    onGone: () => void;
  }) {
    this.#isSettled = options.isSettled;
    const reader = new FrameReader(options.onFrame);
    const onread: OnReadOpts = {
      buffer: () => reader.room(),
      callback: (count) => {
        this.collect(() => reader.read(count));
        return true;
      },
    };
    // @types/node declares `onread` only as an option of `connect`.
    const socketOptions: SocketConstructorOpts & { onread: OnReadOpts } = { fd: channelDescriptor, readable: true, writable: true, onread };
    const socket = new Socket(socketOptions);
    this.socket = socket;
    this.writer = writeFramesTo(socket);
    socket.on("close", options.onGone);
    socket.on("error", options.onGone);
  }

  /** Number of bytes in the socket that the daemon has not read yet. */
  get queuedBytes(): number {
    return this.socket.writableLength;
  }

  /**
   * Runs `run`, which can send several responses, and then schedules one flush for all responses. One flush per response would take more
   * CPU time than most responses.
   */
  collect(run: () => void): void {
    this.writer.hold();
    try {
      run();
    } finally {
      this.writer.release(this.#isSettled());
    }
  }

  /** Flushes all frames if no request waits for its response, because no further response can be part of the same write. */
  settle(): void {
    if (!this.writer.isHeld && this.#isSettled()) this.writer.flush();
  }
}

interface LogChannelOptions {
  readonly writer: FrameWriter;
  /** Returns the number of bytes in the socket that the daemon has not read yet. */
  readonly queuedBytes: () => number;
  /** Replaces positions in bundles by positions in source files, and removes paths of the machine from the text. */
  readonly tidy: (text: string) => string;
}

/**
 * Sends the output of the worker to the daemon, in order with all other frames. Drops output above the limit and counts the dropped
 * entries.
 */
export class LogChannel {
  readonly #options: LogChannelOptions;
  readonly #budget = new OutputLimiter((count) => this.#send(LogCode.Dropped, String(count)));

  constructor(options: LogChannelOptions) {
    this.#options = options;
  }

  write(code: LogCode, text: string): void {
    if (this.#options.queuedBytes() > mostQueuedBytes) return this.#budget.drop();
    if (!this.#budget.admits(text.length)) return;
    this.#send(code, this.#options.tidy(cutText(text)));
  }

  /** Writes an error of the worker's code to the worker's log. */
  readonly report = (error: unknown): void => this.write(LogCode.Error, describeError(error));

  /** Reports the number of dropped entries and sends all waiting frames. Called before the process exits. */
  end(): void {
    this.#budget.report();
    this.#options.writer.flush();
  }

  #send(code: LogCode, text: string): void {
    const bytes = Buffer.allocUnsafeSlow(1 + Buffer.byteLength(text));
    bytes[0] = code;
    bytes.write(text, 1);
    this.#options.writer.bytes(FrameKind.Log, 0, bytes);
    // Sends the entry immediately, because the worker can block or use up its memory in the rest of this turn of the event loop.
    this.#options.writer.flush();
  }
}
