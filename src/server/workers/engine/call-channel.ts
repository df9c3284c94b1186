import type { Socket } from "node:net";
import type { FrameWriter } from "../protocol/frame-writer.js";
import type { FastResponseWriter } from "./fast-response-writer.js";

/** The part of an isolate's connection that one call uses. */
export interface CallChannel {
  readonly writer: FrameWriter;
  readonly fastResponseWriter: FastResponseWriter;
  /**
   * Corks the socket until all frames of the current read are processed. Frame bytes written to the socket stay valid until the socket has
   * sent them.
   */
  hold(socket: Socket): void;
  /** Ends the call on this channel. `isComplete`: the isolate has sent its last frame for the call. */
  release(id: number, isComplete: boolean): void;
}
