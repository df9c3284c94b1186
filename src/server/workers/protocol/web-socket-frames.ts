import type { FrameWriter } from "./frame-writer.js";
import { chunkBytes, FrameKind, pieceCostBytes, socketWindowBytes, closeReasonBytes } from "./frames.js";

/** Codes that RFC 6455 (7.4) and its registry give a meaning. */
export const CloseCode = {
  Normal: 1000,
  GoingAway: 1001,
  /** The peer closed without a code; never on the wire. */
  NoStatus: 1005,
  /** The connection broke; never on the wire. */
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

/** The sending half of one web socket on the channel: cuts messages into pieces, and holds back what exceeds the receiver's credit. */
export class MessageFragmenter {
  readonly #number: number;
  readonly #writer: FrameWriter;
  readonly #hasRoom: () => boolean;
  #waiting: Message[] = [];
  /** Of those, how many have left; and how much of the next one. */
  #sentMessages = 0;
  #sentBytes = 0;
  #waitingBytes = 0;
  #credit = socketWindowBytes;

  /** `hasRoom` says whether the channel takes more at the moment; when it does again, call `send`. */
  constructor(options: { number: number; writer: FrameWriter; hasRoom?: () => boolean }) {
    this.#number = options.number;
    this.#writer = options.writer;
    this.#hasRoom = options.hasRoom ?? (() => true);
  }

  /** Bytes that wait, and what they cost. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get isEmpty(): boolean {
    return this.#waitingBytes === 0;
  }

  /** The bytes must not change afterwards. */
  add(bytes: Uint8Array, isText: boolean): void {
    this.#waiting.push({ bytes, isText });
    this.#waitingBytes += bytes.byteLength + pieceCostBytes;
    this.send();
  }

  /** Throws when it is more than was used. */
  addCredit(bytes: number): void {
    this.#credit += bytes;
    if (bytes === 0 || this.#credit > socketWindowBytes) throw new Error("it gave a web socket credit that it does not have");
    this.send();
  }

  /** Forgets what waits. */
  clear(): void {
    this.#waiting = [];
    this.#sentMessages = this.#sentBytes = this.#waitingBytes = 0;
  }

  send(): void {
    while (this.#sentMessages < this.#waiting.length && this.#credit > pieceCostBytes && this.#hasRoom()) {
      this.#sendPiece(this.#waiting[this.#sentMessages] as Message);
    }
    // Not one by one: taking the first of a long list away moves all others.
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

/** Whether an endpoint may send it in a close frame. */
export function isSendableCode(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== CloseCode.NoStatus && code !== CloseCode.Abnormal;
}

/** Payload of a SocketClose frame. */
export function writeClose({ code, reason }: SocketClose): Uint8Array {
  const payload = Buffer.allocUnsafe(2 + Buffer.byteLength(reason));
  payload.writeUInt16LE(code, 0);
  payload.write(reason, 2);
  return payload;
}

/** Throws when it cannot be a close. A reason that is no UTF-8 is left out. */
export function readClose(payload: Buffer): SocketClose {
  if (payload.length < 2 || payload.length > 2 + closeReasonBytes) throw new Error("it sent a close that cannot be one");
  const reason = payload.toString("utf8", 2);
  return { code: payload.readUInt16LE(0), reason: Buffer.byteLength(reason) === payload.length - 2 ? reason : "" };
}
