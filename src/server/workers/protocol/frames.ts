import type { AssetsOrder } from "./assets-order.js";

/** File descriptor of the isolate's end of the socket pair with the daemon. */
export const channelDescriptor = 3;

/**
 * A frame has a header (payload length u32, kind u8, exchange number u32; little endian) and a payload. Exchange 0 stands for the isolate
 * itself. The isolate ends each Request by one FullResponse, Failed, End, Abort or SocketOpen frame.
 */
export const frameHeaderBytes = 9;

/** Kinds of frames. The comment of each kind states the sender and the payload. */
export const FrameKind = {
  /** Sent by the daemon: the isolate must import the worker. Payload: JSON `LoadOrder`. */
  Load: 1,
  /** Sent by the isolate: the isolate can load a worker. No payload. */
  Ready: 2,
  /** Sent by the isolate: the worker is loaded and can serve requests. No payload. */
  Loaded: 3,
  /** Sent by the isolate: the worker cannot be loaded. Payload: JSON `LoadFailure`. */
  LoadFailed: 4,
  /** Sent by the daemon: a request. Payload: `BodyKind` u8, head length u32, head (latin1 lines), inline body. */
  Request: 5,
  /** Sent by the isolate: a complete response. Payload: status u16, head length u32, head (latin1 lines), body. */
  FullResponse: 6,
  /** Sent by the isolate: the head of a streamed response. Payload: status u16, body length f64 (-1 = unknown), head (latin1 lines). */
  ResponseHead: 7,
  /** Sent by the daemon or isolate: body bytes, within the receiver's credit. */
  Chunk: 8,
  /** Sent by the daemon or isolate: the body is complete. No payload. */
  End: 9,
  /** Sent by the daemon or isolate: the body is aborted. An isolate also confirms Cancel with Abort. No payload. */
  Abort: 10,
  /** Sent by the receiver of a body: the sender can send more bytes. Payload: number of bytes u32. */
  Credit: 11,
  /** Sent by the daemon: the response is no longer needed. No payload. */
  Cancel: 12,
  /** Sent by the isolate: the worker does not read the rest of the request body. No payload. */
  StopBody: 13,
  /** Sent by the isolate after a Log frame with the details: the worker returned no valid response. Payload: `FailureReason` u8. */
  Failed: 14,
  /** Sent by the daemon: tests whether the isolate's event loop is blocked. No payload. */
  Ping: 15,
  /** Sent by the isolate: response to Ping. No payload. */
  Pong: 16,
  /** Sent by the isolate: the number of pending `waitUntil` promises changed. Payload: the number u32. */
  Background: 17,
  /** Sent by the isolate: an uncaught error occurred. The daemon replaces the isolate after its running requests. No payload. */
  UncaughtError: 18,
  /** Sent by the daemon after `idleTimeout` without requests: the isolate calls the worker's `onIdle`. No payload. */
  Idle: 19,
  /** Sent by the daemon: the isolate must call the worker's `onTerminate`, then exit. No payload. */
  Terminate: 20,
  /** Sent by the isolate: a log entry of the worker. Payload: `LogCode` u8, text. */
  Log: 21,
  /**
   * Sent by the isolate: accepts a WebSocket upgrade and ends the exchange. Payload: number of the new WebSocket u32, response head (latin1
   * lines).
   */
  SocketOpen: 22,
  /**
   * Sent by the daemon or isolate: last or only fragment of a text message. The exchange field of Socket frames, except SocketOpen,
   * contains the socket number.
   */
  SocketText: 23,
  /** Sent by the daemon or isolate: last or only fragment of a binary WebSocket message. */
  SocketBinary: 24,
  /** Sent by the daemon or isolate: a fragment of a text message over a WebSocket, except the last fragment. */
  SocketTextPart: 25,
  /** Sent by the daemon or isolate: a fragment of a binary WebSocket message, except the last fragment. */
  SocketBinaryPart: 26,
  /** Sent by the receiver of WebSocket messages: the sender can send more bytes. Payload: number of bytes u32. */
  SocketCredit: 27,
  /**
   * Sent by the daemon or isolate: last frame of the sender for a WebSocket. Payload: close code u16, reason (UTF-8). The socket number is
   * free after both sides have sent SocketClose.
   */
  SocketClose: 28,
  /** Sent by the isolate: an allocation of the worker failed, so the running requests will not complete. No payload. */
  OutOfMemory: 30,
} as const;
export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

/** Level of the entry in a Log frame. The text of a `Dropped` entry is the number of dropped entries. */
export const LogCode = { Debug: 0, Info: 1, Warn: 2, Error: 3, Dropped: 4 } as const;
export type LogCode = (typeof LogCode)[keyof typeof LogCode];

export const BodyKind = { None: 0, Inline: 1, Stream: 2 } as const;

export const FailureReason = { Threw: 0, NotAResponse: 1, BadResponse: 2 } as const;

/** Credit window: maximum number of unacknowledged body bytes in one direction of one exchange. */
export const creditWindowBytes = 512 * 1024;
/** Maximum size of a body chunk in bytes. A sender splits longer chunks. */
export const chunkBytes = 64 * 1024;
/** A complete response up to this size is sent in one frame. */
export const inlineResponseBytes = 256 * 1024;
/** A request body up to this size is buffered and sent in the Request frame. */
export const inlineRequestBytes = 16 * 1024;
/** Credit window: maximum number of unacknowledged message bytes in one direction of one WebSocket. */
export const socketWindowBytes = 128 * 1024;
/** Credit that a chunk or message fragment costs in addition to its length, because the receiver needs about 100 bytes of memory for it. */
export const pieceCostBytes = 64;
/**
 * Maximum length of a close reason in UTF-8 bytes. A WebSocket control frame carries 125 bytes, including 2 bytes for the close code (RFC
 * 6455, 5.5).
 */
export const closeReasonBytes = 123;
/** Maximum size in bytes of the response head in a frame. The daemon rejects a longer head. */
export const responseHeadBytes = 128 * 1024;
/** Maximum payload of a frame. A longer frame means that the sender is broken or hostile. */
export const maximumPayloadBytes = inlineResponseBytes + responseHeadBytes + 64;

export interface LoadOrder {
  /** Absolute path of the module to import, inside the isolate's sandbox folder. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** True if stack traces show positions in source files. This needs a source map and slows down each capture of a stack. */
  readonly sourceMaps: boolean;
  readonly assets: AssetsOrder | undefined;
}

export interface LoadFailure {
  /** Reason for the client, as one line of at most 1 KB. */
  readonly message: string;
}

export { lineFeed } from "../../web/lazy-request.js";
