import type { AssetsOrder } from "./assets-order.js";

/** File descriptor of the isolate's side of the socket to the daemon. */
export const channelDescriptor = 3;

/**
 * A frame has a header (payload length u32, kind u8, exchange number u32; little endian) and a payload. Exchange 0 is the isolate itself.
 * The isolate's last frame for each Request is FullResponse, Failed, End, Abort or SocketOpen.
 */
export const frameHeaderBytes = 9;

/** Kinds of frames. The comment of each kind states the sender and the payload. */
export const FrameKind = {
  /** The daemon orders the isolate to import the worker. Payload: JSON `LoadOrder`. */
  Load: 1,
  /** The isolate reports that it can load a worker. No payload. */
  Ready: 2,
  /** The isolate reports that it has loaded the worker and can serve requests. No payload. */
  Loaded: 3,
  /** The isolate reports that it cannot load the worker. Payload: JSON `LoadFailure`. */
  LoadFailed: 4,
  /** The daemon sends a request. Payload: `BodyKind` u8, head length u32, head (latin1 lines), inline body. */
  Request: 5,
  /** The isolate sends a complete response. Payload: status u16, head length u32, head (latin1 lines), body. */
  FullResponse: 6,
  /** The isolate sends the head of a streamed response. Payload: status u16, body length f64 (-1 = unknown), head (latin1 lines). */
  ResponseHead: 7,
  /** The daemon or the isolate sends body bytes within the credit that it has received. */
  Chunk: 8,
  /** The daemon or the isolate reports the end of a body. No payload. */
  End: 9,
  /** The daemon or the isolate aborts a body. The isolate also confirms a Cancel frame by an Abort frame. No payload. */
  Abort: 10,
  /** The receiver of a body allows its sender to send more bytes. Payload: number of bytes u32. */
  Credit: 11,
  /** The daemon reports that it no longer needs the response. No payload. */
  Cancel: 12,
  /** The isolate reports that the worker does not read the rest of the request body. No payload. */
  StopBody: 13,
  /**
   * The isolate reports that the worker returned no valid response. A Log frame with the details precedes this frame. Payload:
   * `FailureReason` u8.
   */
  Failed: 14,
  /** The daemon checks whether the event loop of the isolate is blocked. No payload. */
  Ping: 15,
  /** The isolate responds to a Ping frame. No payload. */
  Pong: 16,
  /** The isolate reports a changed number of pending `waitUntil` promises. Payload: the number u32. */
  Background: 17,
  /** The isolate reports an uncaught error. The daemon replaces the isolate after its running requests. No payload. */
  UncaughtError: 18,
  /** The daemon reports `idleTimeout` without requests. The isolate then calls the worker's `onIdle`. No payload. */
  Idle: 19,
  /** The daemon orders the isolate to call the worker's `onTerminate` and then to exit. No payload. */
  Terminate: 20,
  /** The isolate sends a log entry of the worker. Payload: `LogCode` u8, text. */
  Log: 21,
  /**
   * The isolate accepts a WebSocket upgrade and ends the exchange. Payload: number of the new WebSocket u32, response head (latin1 lines).
   */
  SocketOpen: 22,
  /**
   * The daemon or the isolate sends the last or only fragment of a text message. In Socket frames except SocketOpen, the exchange field
   * contains the socket number.
   */
  SocketText: 23,
  /** The daemon or the isolate sends the last or only fragment of a binary WebSocket message. */
  SocketBinary: 24,
  /** The daemon or the isolate sends a fragment of a WebSocket text message that is not the last one. */
  SocketTextPart: 25,
  /** The daemon or the isolate sends a fragment of a binary WebSocket message that is not the last one. */
  SocketBinaryPart: 26,
  /** The receiver of WebSocket messages allows their sender to send more bytes. Payload: number of bytes u32. */
  SocketCredit: 27,
  /**
   * The daemon or the isolate sends its last frame for a WebSocket. Payload: close code u16, reason (UTF-8). After both have sent it, the
   * socket number is free.
   */
  SocketClose: 28,
  /** The isolate reports a failed allocation of the worker. The running requests will not complete. No payload. */
  OutOfMemory: 30,
} as const;
export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

/** Level of the entry in a Log frame. The text of a `Dropped` entry is the number of entries that the isolate has dropped. */
export const LogCode = { Debug: 0, Info: 1, Warn: 2, Error: 3, Dropped: 4 } as const;
export type LogCode = (typeof LogCode)[keyof typeof LogCode];

export const BodyKind = { None: 0, Inline: 1, Stream: 2 } as const;

export const FailureReason = { Threw: 0, NotAResponse: 1, BadResponse: 2 } as const;

/**
 * Credit window in bytes: the maximum number of body bytes in one direction of an exchange for which the receiver has not returned credit.
 */
export const creditWindowBytes = 512 * 1024;
/**
 * Maximum number of body bytes that the isolate writes at once, and maximum size of a fragment of a WebSocket message. The writer can
 * extend an unsent Chunk frame beyond this size.
 */
export const chunkBytes = 64 * 1024;
/** Maximum size in bytes of a response that the isolate sends in one frame. */
export const inlineResponseBytes = 256 * 1024;
/** Maximum size in bytes of a request body that the daemon buffers and sends in the Request frame. */
export const inlineRequestBytes = 16 * 1024;
/**
 * Credit window in bytes: the maximum number of message bytes in one direction of a WebSocket for which the receiver has not returned
 * credit.
 */
export const socketWindowBytes = 128 * 1024;
/**
 * Credit that each chunk or message fragment takes in addition to its bytes, because the receiver needs about 100 bytes of memory for it.
 */
export const pieceCostBytes = 64;
/**
 * Maximum length of a close reason in UTF-8 bytes. A control frame of a WebSocket has at most 125 bytes, and the close code takes 2 of them
 * (RFC 6455, 5.5).
 */
export const closeReasonBytes = 123;
/** Maximum size in bytes of the response head in a frame. The daemon rejects a longer head. */
export const responseHeadBytes = 128 * 1024;
/** Maximum size in bytes of a payload. A longer frame means that the sender is broken or hostile. */
export const maximumPayloadBytes = inlineResponseBytes + responseHeadBytes + 64;

export interface LoadOrder {
  /** Absolute path of the module to import. The path is in the sandbox folder of the isolate. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** True if stack traces contain positions in source files. This needs a source map and makes each stack trace slower. */
  readonly sourceMaps: boolean;
  readonly assets: AssetsOrder | undefined;
}

export interface LoadFailure {
  /** Reason of the failure for the client, as one line of at most 1 KB. */
  readonly message: string;
}

export { lineFeed } from "../../web/lazy-request.js";
