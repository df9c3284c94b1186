import { FrameKind, frameHeaderBytes, maximumPayloadBytes } from "./frames.js";

/** Size of the read buffer in bytes, about as much as the socket between daemon and isolate can hold. */
const bufferBytes = 256 * 1024;
/** Minimum number of free bytes for a read. With less space, a read transfers too few bytes for the cost of its system call. */
const leastRoomBytes = 64 * 1024;
/**
 * Minimum number of bytes in each delivered part of a Chunk frame, except the last. The receiver needs about 100 bytes of memory for each
 * part.
 */
const leastPieceBytes = 4096;

/**
 * Payload of a frame, which is `buffer` from `start` to `end`. The bytes are valid until the handler returns. If the handler calls `keep`,
 * they are valid longer.
 */
export interface FramePayload {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
  /** True for each part of a Chunk frame except the first. */
  readonly isRest?: boolean;
}

export type FrameHandler = (kind: number, exchange: number, payload: FramePayload) => void;

/**
 * Splits the bytes of the channel into frames. Delivers a frame when it is complete, but a Chunk frame in parts as its bytes arrive,
 * because its boundaries have no meaning. The socket reads into one buffer, which saves allocations.
 */
export class FrameReader {
  readonly #onFrame: FrameHandler;
  #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  /** Start of the received bytes that are not delivered yet. `#end` is their end. */
  #start = 0;
  #end = 0;
  #isKept = false;
  /** Number of bytes that are missing in the current Chunk frame. `#chunkExchange` is the exchange number of this frame. */
  #chunkRest = 0;
  #chunkExchange = 0;
  #isChunkBegun = false;

  constructor(onFrame: FrameHandler) {
    this.#onFrame = onFrame;
  }

  /** Returns the buffer for the next read from the socket. Call `read` afterwards. */
  room(): Buffer {
    const waiting = this.#end - this.#start;
    if (waiting === 0 && !this.#isKept) {
      this.#start = this.#end = 0;
      return this.#buffer;
    }
    // Reserves at most `maximumPayloadBytes` for a payload, because `read` rejects a frame with a longer payload.
    const length =
      this.#chunkRest > 0 || waiting < frameHeaderBytes ? 0 : Math.min(this.#buffer.readUInt32LE(this.#start), maximumPayloadBytes);
    const size = frameHeaderBytes + length;
    const isTight = this.#start + size > this.#buffer.length || this.#end + leastRoomBytes > this.#buffer.length;
    if (isTight || this.#isKept) this.#move(Math.max(bufferBytes, size + leastRoomBytes));
    return this.#buffer.subarray(this.#end);
  }

  /** Adds bytes that arrived before the first call of `room`. The next call of `read` delivers them. */
  put(bytes: Buffer): void {
    const count = bytes.copy(this.room());
    this.#end += count;
  }

  /** Delivers the frames that are complete after `count` new bytes. Throws if a frame is too long. */
  read(count: number): void {
    const buffer = this.#buffer;
    this.#end += count;
    if (this.#chunkRest > 0) {
      this.#passOn();
      if (this.#chunkRest > 0) return;
    }
    // Uses one object for all frames of a read, because a handler needs the object only during its call.
    const payload = { buffer, start: 0, end: 0 };
    while (this.#end - this.#start >= frameHeaderBytes) {
      const at = this.#start;
      const kind = buffer[at + 4] as number;
      const length = payloadLength(buffer, at);
      payload.start = at + frameHeaderBytes;
      payload.end = payload.start + length;
      if (payload.end > this.#end) {
        if (kind === FrameKind.Chunk) this.#beginChunk(at, length);
        return;
      }
      this.#start = payload.end;
      this.#onFrame(kind, buffer.readUInt32LE(at + 5), payload);
    }
  }

  /** Leaves the current buffer unchanged, because payload bytes are still in use. The next read uses another buffer. */
  keep(): void {
    this.#isKept = true;
  }

  #beginChunk(at: number, length: number): void {
    this.#chunkRest = length;
    this.#isChunkBegun = false;
    this.#chunkExchange = this.#buffer.readUInt32LE(at + 5);
    this.#start = at + frameHeaderBytes;
    this.#passOn();
  }

  /** Delivers the received bytes of the current Chunk frame. */
  #passOn(): void {
    const start = this.#start;
    const end = Math.min(this.#end, start + this.#chunkRest);
    if (end - start < Math.min(leastPieceBytes, this.#chunkRest)) return;
    this.#chunkRest -= end - start;
    this.#start = end;
    const isRest = this.#isChunkBegun;
    this.#isChunkBegun = true;
    this.#onFrame(FrameKind.Chunk, this.#chunkExchange, { buffer: this.#buffer, start, end, isRest });
  }

  /** Moves the bytes that are not delivered yet to the start of a buffer of at least `size` bytes. */
  #move(size: number): void {
    const target = this.#isKept || this.#buffer.length < size ? Buffer.allocUnsafeSlow(size) : this.#buffer;
    this.#end = this.#buffer.copy(target, 0, this.#start, this.#end);
    this.#start = 0;
    this.#buffer = target;
    this.#isKept = false;
  }
}

function payloadLength(buffer: Buffer, at: number): number {
  const length = buffer.readUInt32LE(at);
  if (length > maximumPayloadBytes) throw new Error(`a frame of ${length} bytes is longer than the maximum of ${maximumPayloadBytes}`);
  return length;
}
