import { Socket, type OnReadOpts, type SocketConstructorOpts } from "node:net";
import { FrameReader, type FrameHandler } from "../protocol/frame-reader.js";
import { channelDescriptor } from "../protocol/frames.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import { writeFramesTo } from "../protocol/write-frames-to.js";

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
