import type { Socket } from "node:net";
import type { FrameWriter } from "../protocol/frame-writer.js";
import type { FastResponseWriter } from "./fast-response-writer.js";

/** The isolate's side of a call, as the call sees it. */
export interface CallChannel {
  readonly writer: FrameWriter;
  readonly fastResponseWriter: FastResponseWriter;
  /**
   * Nothing leaves this socket before all that the isolate sent together was read; the bytes of its frames that were written to it until
   * then are left alone until they have left.
   */
  hold(socket: Socket): void;
  /** The call needs nothing more; `isComplete` = the isolate has said its last word about it. */
  release(id: number, isComplete: boolean): void;
}
