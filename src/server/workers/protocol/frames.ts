import type { AssetsOrder } from "./assets-order.js";

/** File descriptor of the isolate's end of the socket pair with the daemon. */
export const channelDescriptor = 3;

/**
 * A frame is a header (payload length u32, kind u8, exchange u32; little endian) and a payload. Exchange 0 is the isolate itself. The
 * isolate ends each Request, even a cancelled one, by one FullResponse, Failed, End or Abort frame.
 */
export const frameHeaderBytes = 9;

/** Each comment begins with the sender of the frame: the daemon, the isolate, or both. */
export const FrameKind = {
  /** Daemon: import this worker (JSON `LoadOrder`). */
  Load: 1,
  /** Isolate: ready to load a worker. */
  Ready: 2,
  /** Isolate: the worker is loaded and serves requests. */
  Loaded: 3,
  /** Isolate: the worker cannot be loaded (JSON `LoadFailure`). */
  LoadFailed: 4,
  /** Daemon: body kind u8, head length u32, head (latin1 lines), inline body. */
  Request: 5,
  /** Isolate: complete response: status u16, head length u32, head (latin1 lines), body. */
  FullResponse: 6,
  /** Isolate: status u16, body length f64 (-1 = unknown), head (latin1 lines). The body follows as Chunk frames. */
  ResponseHead: 7,
  /** Daemon or isolate: body bytes, within the receiver's credit. */
  Chunk: 8,
  /** Daemon or isolate: the body is complete. */
  End: 9,
  /** Daemon or isolate: the body is aborted. An isolate also sends Abort to confirm Cancel. */
  Abort: 10,
  /** Daemon or isolate: the receiver of the body grants credit for u32 more bytes. */
  Credit: 11,
  /** Daemon: the response is no longer needed. */
  Cancel: 12,
  /** Isolate: the worker does not read the rest of the request body. */
  StopBody: 13,
  /** Isolate: the worker returned no valid response; u8 `FailureReason`. The isolate sends a Log frame with the details first. */
  Failed: 14,
  /** Daemon: liveness check. */
  Ping: 15,
  /** Isolate: response to Ping. */
  Pong: 16,
  /** Isolate: u32 number of pending `waitUntil` promises. */
  Background: 17,
  /** Isolate: an uncaught error occurred; replace the isolate after its running requests. */
  UncaughtError: 18,
  /** Daemon: no request for `idleTimeout`; call onIdle. */
  Idle: 19,
  /** Daemon: call onTerminate, then exit. */
  Terminate: 20,
  /** Isolate: one log entry of the worker: u8 `LogCode`, text. */
  Log: 21,
  /** Isolate: 101 response to an upgrade: u32 number of the new WebSocket, head (latin1 lines). Ends the exchange. */
  SocketOpen: 22,
  /**
   * Daemon or isolate: last or only fragment of a text message. In all Socket frames except SocketOpen, the exchange field is the socket
   * number.
   */
  SocketText: 23,
  /** Daemon or isolate: last or only fragment of a binary message. */
  SocketBinary: 24,
  /** Daemon or isolate: a fragment of a text message, except the last one. */
  SocketTextPart: 25,
  /** Daemon or isolate: a fragment of a binary message, except the last one. */
  SocketBinaryPart: 26,
  /** Daemon or isolate: the receiver of messages grants credit for u32 more bytes on this socket. */
  SocketCredit: 27,
  /**
   * Daemon or isolate: close code u16, reason (UTF-8). The sender sends no more frames for this socket. The socket number is free after
   * both sides have sent SocketClose.
   */
  SocketClose: 28,
  /** Isolate: an allocation of the worker failed; running requests will not complete. */
  OutOfMemory: 30,
} as const;
export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

/** Level of a log entry. The text of a `Dropped` entry is the number of dropped entries. */
export const LogCode = { Debug: 0, Info: 1, Warn: 2, Error: 3, Dropped: 4 } as const;
export type LogCode = (typeof LogCode)[keyof typeof LogCode];

export const BodyKind = { None: 0, Inline: 1, Stream: 2 } as const;

export const FailureReason = { Threw: 0, NotAResponse: 1, BadResponse: 2 } as const;

/** Maximum unacknowledged body bytes in one direction of one exchange. */
export const creditWindowBytes = 512 * 1024;
/** Maximum size of a body chunk. */
export const chunkBytes = 64 * 1024;
/** A complete response up to this size is sent in one frame. */
export const inlineResponseBytes = 256 * 1024;
/** A request body up to this size is buffered and sent with its head. */
export const inlineRequestBytes = 16 * 1024;
/** Maximum unacknowledged message bytes in one direction of one WebSocket. */
export const socketWindowBytes = 128 * 1024;
/** Credit cost of a chunk or fragment in addition to its length: each takes about 100 bytes of memory at its receiver. */
export const pieceCostBytes = 64;
/** Maximum close reason in UTF-8 bytes: a control frame has 125 bytes, 2 of them for the code (RFC 6455, 5.5). */
export const closeReasonBytes = 123;
/** Maximum size of the response headers in a frame. */
export const responseHeadBytes = 128 * 1024;
/** Maximum payload; a longer frame means a broken or hostile sender. */
export const maximumPayloadBytes = inlineResponseBytes + responseHeadBytes + 64;

export interface LoadOrder {
  /** Absolute path of the module to import, inside the slot. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether stack traces show positions in the source files, which needs a source map and slows down each capture of a stack. */
  readonly sourceMaps: boolean;
  readonly assets: AssetsOrder | undefined;
}

export interface LoadFailure {
  /** One line for the client, at most 1 KB. */
  readonly message: string;
}

export { lineFeed } from "../../web/lazy-request.js";
