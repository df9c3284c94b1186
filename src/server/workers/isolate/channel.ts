import { Socket, type OnReadOpts, type SocketConstructorOpts } from "node:net";
import { FrameReader, type FrameHandler } from "../protocol/frame-reader.js";
import { channelDescriptor, FrameKind, LogCode } from "../protocol/frames.js";
import { writeFramesTo, type FrameWriter } from "../protocol/frame-writer.js";
import { cutText } from "../protocol/log-text.js";
import { describeError } from "./stack-traces.js";
import { OutputLimiter } from "../protocol/output-limiter.js";

/** While so much waits for the daemon to read it, output is dropped rather than kept. */
const mostQueuedBytes = 1024 * 1024;

/** The isolate's end of the socket pair with the daemon: frames in, frames out. */
export class DaemonChannel {
  readonly writer: FrameWriter;
  readonly socket: Socket;
  readonly #isSettled: () => boolean;

  constructor(options: {
    onFrame: FrameHandler;
    /** Whether every request is answered. */
    isSettled: () => boolean;
    /** The daemon is gone. */
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
    // The types name `onread` only where a socket connects.
    const socketOptions: SocketConstructorOpts & { onread: OnReadOpts } = { fd: channelDescriptor, readable: true, writable: true, onread };
    const socket = new Socket(socketOptions);
    this.socket = socket;
    this.writer = writeFramesTo(socket);
    socket.on("close", options.onGone);
    socket.on("error", options.onGone);
  }

  /** Bytes that the daemon has not taken yet. */
  get queuedBytes(): number {
    return this.socket.writableLength;
  }

  /** Runs what may answer requests, and looks afterwards when the answers leave: to plan that at each would cost more than most answers. */
  collect(run: () => void): void {
    this.writer.hold();
    try {
      run();
    } finally {
      this.writer.release(this.#isSettled());
    }
  }

  /** When the last request is answered, nothing is left that could go with the answers: they need not wait for the end of the turn. */
  settle(): void {
    if (!this.writer.isHeld && this.#isSettled()) this.writer.flush();
  }
}

interface LogChannelOptions {
  readonly writer: FrameWriter;
  /** What the socket holds that the daemon has not read yet. */
  readonly queuedBytes: () => number;
  /** Makes positions those of the sources, and takes away what tells about the machine. */
  readonly tidy: (text: string) => string;
}

/** The way of the app's output to the daemon, in order with everything else that goes there. What is too much is counted and lost. */
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

  /** An error that nobody else will tell of. */
  readonly report = (error: unknown): void => this.write(LogCode.Error, describeError(error));

  /** The process ends: tells what was dropped so far. */
  end(): void {
    this.#budget.report();
    this.#options.writer.flush();
  }

  #send(code: LogCode, text: string): void {
    const bytes = Buffer.allocUnsafeSlow(1 + Buffer.byteLength(text));
    bytes[0] = code;
    bytes.write(text, 1);
    this.#options.writer.bytes(FrameKind.Log, 0, bytes);
    // At once: the app may loop, or be out of memory, before this turn is over.
    this.#options.writer.flush();
  }
}
