/** The isolate's end of the socket pair with the daemon. */
export const channelDescriptor = 3;

/**
 * What the daemon and an isolate say to each other over their socket pair, described once for both sides.
 *
 * A frame is a header (payload length u32, kind u8, exchange u32, little endian) and its payload. Exchange 0 is the isolate itself;
 * every other number is one request and its answer. Each Request is ended by exactly one of Answer, Failed, End or Abort from the isolate,
 * also after Cancel, so both sides know when a number is free.
 */
export const frameHeaderBytes = 9;

export const FrameKind = {
  /** Daemon: import this app (JSON `LoadOrder`). */
  Load: 1,
  /** Isolate: ready to be given an app. */
  Blank: 2,
  /** Isolate: the app answers from now on. */
  Loaded: 3,
  /** Isolate: the app cannot be used (JSON `LoadFailure`). */
  LoadFailed: 4,
  /** Daemon: body kind u8, head length u32, head (latin1 lines), inline body. */
  Request: 5,
  /** Isolate: status u16, head length u32, head (latin1 lines), whole body. */
  Answer: 6,
  /** Isolate: status u16, body length f64 (-1 = not known), head; the body follows as Chunk frames. */
  ResponseHead: 7,
  /** Both: a piece of a body; only within the credit that the receiver has given. */
  Chunk: 8,
  /** Both: the body is complete. */
  End: 9,
  /** Both: the body will never be complete. From the isolate also the confirmation of Cancel. */
  Abort: 10,
  /** Both: u32 more body bytes may be sent. */
  Credit: 11,
  /** Daemon: nobody waits for the answer any more. */
  Cancel: 12,
  /** Isolate: the app wants no more of the request's body. */
  StopBody: 13,
  /** Isolate: the app gave no answer; u8 `FailureReason`. The reason went out as Log before. */
  Failed: 14,
  /** Daemon: are you alive? */
  Ping: 15,
  /** Isolate: yes. */
  Pong: 16,
  /** Isolate: u32 promises given to waitUntil are not settled yet. */
  Background: 17,
  /** Isolate: an error escaped all handlers; replace me after what I am doing. */
  Tainted: 18,
  /** Daemon: nothing came for `idleTimeout`; call onIdle. */
  Idle: 19,
  /** Daemon: call onTerminate, then exit. */
  Terminate: 20,
  /** Isolate: one entry of the app's output: u8 `LogCode`, text. */
  Log: 21,
  /** Isolate: u32 number of a web socket that it names here, head (latin1 lines): the app answers an upgrade with 101; the exchange ends. */
  SocketOpen: 22,
  /** Both: the last or only piece of a text message. From here on the number in the header is the socket's, not an exchange's. */
  SocketText: 23,
  /** Both: the same of a binary message. */
  SocketBinary: 24,
  /** Both: a piece of a text message that goes on. */
  SocketTextPart: 25,
  /** Both: the same of a binary message. */
  SocketBinaryPart: 26,
  /** Both: u32 more bytes may be sent on this socket. */
  SocketCredit: 27,
  /** Both: close code u16, reason (UTF-8). The last frame of its sender about this socket; with both, the number is free. */
  SocketClose: 28,
  /** Isolate: memory was refused to the app; what it was doing will not be done. */
  OutOfMemory: 30,
} as const;
export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

/** The level of an entry; `Dropped` stands before the number of entries that were too many. */
export const LogCode = { Debug: 0, Info: 1, Warn: 2, Error: 3, Dropped: 4 } as const;
export type LogCode = (typeof LogCode)[keyof typeof LogCode];

export const BodyKind = { None: 0, Inline: 1, Stream: 2 } as const;

export const FailureReason = { Threw: 0, NotAResponse: 1, BadResponse: 2 } as const;

/** Body bytes that may be under way in one direction of one exchange before the receiver gives more credit. */
export const creditWindowBytes = 512 * 1024;
/** Bodies are cut into pieces of at most this size. */
export const chunkBytes = 64 * 1024;
/** A whole answer up to this size travels in one frame. */
export const inlineResponseBytes = 256 * 1024;
/** A request body up to this size is collected and travels with its head. */
export const inlineRequestBytes = 16 * 1024;
/** Message bytes that may be under way in one direction of one web socket before the receiver gives more credit. */
export const socketWindowBytes = 128 * 1024;
/** Credit in bytes that a piece of a response body or of a message costs beside its length: each takes about 100 bytes of its receiver. */
export const pieceCostBytes = 64;
/** Reason of a close, in UTF-8: what fits into a control frame beside the code. */
export const closeReasonBytes = 123;
/** Header lines of an answer, as on the wire. */
export const responseHeadBytes = 128 * 1024;
/** A longer frame is not one of ours: the channel is broken or its owner hostile. */
export const maximumPayloadBytes = inlineResponseBytes + responseHeadBytes + 64;

export interface LoadOrder {
  /** Path of the module to import, absolute, inside the slot. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** Map stack traces to the sources: there is a map. Costs time wherever a stack is taken. */
  readonly sourceMaps: boolean;
}

export interface LoadFailure {
  /** One line for the client, at most 1 KB. */
  readonly message: string;
}

export { lineFeed } from "../../web/lazy-request.js";
