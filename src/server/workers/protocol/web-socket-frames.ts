import type { FrameWriter } from "./frame-writer.js";
import { chunkBytes, FrameKind, pieceCostBytes, socketWindowBytes, closeReasonBytes } from "./frames.js";

/** WebSocket close codes from RFC 6455, section 7.4, and the IANA registry. */
export const CloseCode = {
  Normal: 1000,
  GoingAway: 1001,
  /** Stands for a close without a code. No WebSocket frame contains it. */
  NoStatus: 1005,
  /** Stands for a connection that ended without a close frame. No WebSocket frame contains it. */
  Abnormal: 1006,
  TooLarge: 1009,
  InternalError: 1011,
  ServiceRestart: 1012,
  TryAgainLater: 1013,
} as const;

interface Message {
  readonly bytes: Uint8Array;
  readonly isText: boolean;
}

/**
 * Sends the messages of one WebSocket between daemon and isolate. Splits messages into fragments. Fragments above the receiver's credit
 * wait in a queue.
 */
export class MessageFragmenter {
  readonly #number: number;
  readonly #writer: FrameWriter;
  readonly #hasRoom: () => boolean;
  #waiting: Message[] = [];
  /** Number of messages at the start of `#waiting` that are sent. `#sentBytes` is the number of sent bytes of the next message. */
  #sentMessages = 0;
  #sentBytes = 0;
  #waitingBytes = 0;
  #credit = socketWindowBytes;

  /** `hasRoom` returns whether the channel accepts bytes now. If not, the owner calls `send` when the channel accepts bytes again. */
  constructor(options: { number: number; writer: FrameWriter; hasRoom?: () => boolean }) {
    this.#number = options.number;
    this.#writer = options.writer;
    this.#hasRoom = options.hasRoom ?? (() => true);
  }

  /** Number of waiting bytes, and `pieceCostBytes` for each waiting message. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get isEmpty(): boolean {
    return this.#waitingBytes === 0;
  }

  /** Queues a message and sends as many bytes as the credit allows. The caller must not change the bytes afterwards. */
  add(bytes: Uint8Array, isText: boolean): void {
    this.#waiting.push({ bytes, isText });
    this.#waitingBytes += bytes.byteLength + pieceCostBytes;
    this.send();
  }

  /** Adds credit. Throws if the receiver returns more credit than this side has used. */
  addCredit(bytes: number): void {
    this.#credit += bytes;
    if (bytes === 0 || this.#credit > socketWindowBytes) throw new Error("the peer returned more WebSocket credit than it received");
    this.send();
  }

  /** Discards the waiting messages. */
  clear(): void {
    this.#waiting = [];
    this.#sentMessages = this.#sentBytes = this.#waitingBytes = 0;
  }

  send(): void {
    while (this.#sentMessages < this.#waiting.length && this.#credit > pieceCostBytes && this.#hasRoom()) {
      this.#sendPiece(this.#waiting[this.#sentMessages] as Message);
    }
    // Removes sent messages in batches, because each `shift` of a long array moves all other elements.
    if (this.#sentMessages * 2 < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#sentMessages);
    this.#sentMessages = 0;
  }

  #sendPiece({ bytes, isText }: Message): void {
    const start = this.#sentBytes;
    const size = Math.min(bytes.byteLength - start, chunkBytes, this.#credit - pieceCostBytes);
    const isLast = start + size === bytes.byteLength;
    const last = isText ? FrameKind.SocketText : FrameKind.SocketBinary;
    const part = isText ? FrameKind.SocketTextPart : FrameKind.SocketBinaryPart;
    this.#writer.bytes(isLast ? last : part, this.#number, size === bytes.byteLength ? bytes : bytes.subarray(start, start + size));
    this.#credit -= size + pieceCostBytes;
    this.#waitingBytes -= isLast ? size + pieceCostBytes : size;
    this.#sentBytes = isLast ? 0 : start + size;
    if (isLast) this.#sentMessages += 1;
  }
}

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
}

/** Returns whether a close frame is allowed to contain this code. */
export function isSendableCode(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== CloseCode.NoStatus && code !== CloseCode.Abnormal;
}

/** Returns the payload of a SocketClose frame. */
export function writeClose({ code, reason }: SocketClose): Uint8Array {
  const payload = Buffer.allocUnsafe(2 + Buffer.byteLength(reason));
  payload.writeUInt16LE(code, 0);
  payload.write(reason, 2);
  return payload;
}

/**
 * Parses the payload of a SocketClose frame. Throws if its length is invalid. If the reason is not valid UTF-8, returns an empty reason.
 */
export function readClose(payload: Buffer): SocketClose {
  if (payload.length < 2 || payload.length > 2 + closeReasonBytes) throw new Error("the peer sent an invalid close frame");
  const reason = payload.toString("utf8", 2);
  return { code: payload.readUInt16LE(0), reason: Buffer.byteLength(reason) === payload.length - 2 ? reason : "" };
}
