import type { Socket } from "node:net";
import type { FrameWriter } from "../protocol/frame-writer.js";
import type { FastResponseWriter } from "./fast-response-writer.js";

/** The functions of an isolate's connection that a single call uses. */
export interface CallChannel {
  readonly writer: FrameWriter;
  readonly fastResponseWriter: FastResponseWriter;
  /**
   * Corks the client's socket until the daemon has processed all frames of the current read. The bytes of these frames stay valid until the
   * socket has sent them.
   */
  hold(socket: Socket): void;
  /** Ends the call on this connection. `isComplete` is true if the isolate has sent the last frame of the call. */
  release(id: number, isComplete: boolean): void;
}
