import { FrameKind, frameHeaderBytes, maximumPayloadBytes } from "./frames.js";

/** Size of the read buffer, about the capacity of a socket pair. */
const bufferBytes = 256 * 1024;
/** Minimum free space for a read. With less space, a read transfers too few bytes for the cost of its system call. */
const leastRoomBytes = 64 * 1024;
/** Minimum size of each part of a Chunk frame, except the last part. Each part costs its receiver about 100 bytes of memory. */
const leastPieceBytes = 4096;

/** Payload of a frame: `buffer` from `start` to `end`. The bytes are valid until the handler returns, or longer if `keep` is called. */
export interface FramePayload {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
  /** True for every part of a Chunk frame after the first part. */
  readonly isRest?: boolean;
}

export type FrameHandler = (kind: number, exchange: number, payload: FramePayload) => void;

/**
 * Splits the byte stream of the channel into frames. Delivers a frame when it is complete, but the bytes of a Chunk frame as they arrive,
 * because chunk boundaries have no meaning. The socket reads into one reused buffer to avoid allocations.
 */
export class FrameReader {
  readonly #onFrame: FrameHandler;
  #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  /** Start of the received bytes that were not delivered yet. `#end`: end of these bytes. */
  #start = 0;
  #end = 0;
  #isKept = false;
  /** Number of undelivered bytes of a Chunk frame that is delivered in parts. `#chunkExchange`: the exchange number of this frame. */
  #chunkRest = 0;
  #chunkExchange = 0;
  #isChunkBegun = false;

  constructor(onFrame: FrameHandler) {
    this.#onFrame = onFrame;
  }

  /** Returns the buffer for the next read from the socket. `read` must be called afterwards. */
  room(): Buffer {
    const waiting = this.#end - this.#start;
    if (waiting === 0 && !this.#isKept) {
      this.#start = this.#end = 0;
      return this.#buffer;
    }
    // The length is capped because `read` rejects a longer frame anyway.
    const length =
      this.#chunkRest > 0 || waiting < frameHeaderBytes ? 0 : Math.min(this.#buffer.readUInt32LE(this.#start), maximumPayloadBytes);
    const size = frameHeaderBytes + length;
    const isTight = this.#start + size > this.#buffer.length || this.#end + leastRoomBytes > this.#buffer.length;
    if (isTight || this.#isKept) this.#move(Math.max(bufferBytes, size + leastRoomBytes));
    return this.#buffer.subarray(this.#end);
  }

  /** Adds bytes that were received before the first call of `room`. The next `read` delivers these bytes. */
  put(bytes: Buffer): void {
    const count = bytes.copy(this.room());
    this.#end += count;
  }

  /** Delivers the frames that `count` new bytes complete. Throws when a frame is too long. */
  read(count: number): void {
    const buffer = this.#buffer;
    this.#end += count;
    if (this.#chunkRest > 0) {
      this.#passOn();
      if (this.#chunkRest > 0) return;
    }
    // All frames of a read share one object, because a handler uses the object only during its call.
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

  /** Keeps the current buffer unchanged because payload bytes are still in use: the next read uses another buffer. */
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

  /** Moves the undelivered bytes to the start of a buffer of at least `size` bytes. */
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
