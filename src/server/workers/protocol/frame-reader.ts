import { FrameKind, frameHeaderBytes, maximumPayloadBytes } from "./frames.js";

/** What one read takes at most: about as much as a socket pair holds. */
const bufferBytes = 256 * 1024;
/** With less room than this behind what has come, a read would be hardly worth its call. */
const leastRoomBytes = 64 * 1024;
/** Smaller parts of a Chunk wait for more bytes: each part costs its receiver about 100 bytes of memory. */
const leastPieceBytes = 4096;

/** Payload of a frame: `buffer` from `start` to `end`, until the handler returns; then the buffer is used again, unless it is kept. */
export interface FramePayload {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
  /** Of a Chunk, when its beginning was handed over before. */
  readonly isRest?: boolean;
}

export type FrameHandler = (kind: number, exchange: number, payload: FramePayload) => void;

/**
 * Cuts what comes from the socket into frames. The socket reads into one buffer of ours, behind what there is of a frame that has not
 * come whole, so nothing is allocated and nothing collected. A frame is handed over whole; only a Chunk is handed over as it comes,
 * each piece as a Chunk of its own: where a body is cut means nothing.
 */
export class FrameReader {
  readonly #onFrame: FrameHandler;
  #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  /** What has come and was not handed over. */
  #start = 0;
  #end = 0;
  #isKept = false;
  /** Bytes that have not come yet of a Chunk that is handed over in pieces, and its exchange. */
  #chunkRest = 0;
  #chunkExchange = 0;
  #isChunkBegun = false;

  constructor(onFrame: FrameHandler) {
    this.#onFrame = onFrame;
  }

  /** Where the next bytes belong; then call `read`. */
  room(): Buffer {
    const waiting = this.#end - this.#start;
    if (waiting === 0 && !this.#isKept) {
      this.#start = this.#end = 0;
      return this.#buffer;
    }
    // Of what `read` has refused nothing more is wanted.
    const length =
      this.#chunkRest > 0 || waiting < frameHeaderBytes ? 0 : Math.min(this.#buffer.readUInt32LE(this.#start), maximumPayloadBytes);
    const size = frameHeaderBytes + length;
    const isTight = this.#start + size > this.#buffer.length || this.#end + leastRoomBytes > this.#buffer.length;
    if (isTight || this.#isKept) this.#move(Math.max(bufferBytes, size + leastRoomBytes));
    return this.#buffer.subarray(this.#end);
  }

  /** Takes what came another way, before there was a `room`; `read` hands it over. */
  put(bytes: Buffer): void {
    const count = bytes.copy(this.room());
    this.#end += count;
  }

  /** Hands over what is complete with the `count` bytes that came. Throws when the stream cannot be one of frames. */
  read(count: number): void {
    const buffer = this.#buffer;
    this.#end += count;
    if (this.#chunkRest > 0) {
      this.#passOn();
      if (this.#chunkRest > 0) return;
    }
    // One object for all frames that came together: handlers read it at once.
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

  /** Somebody still uses bytes of the payloads: what comes next is read elsewhere. */
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

  /** Hands over what there is of the Chunk. */
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

  /** Puts what waits at the start of a buffer that has `size` bytes or more. */
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
  if (length > maximumPayloadBytes) throw new Error(`A frame of ${length} bytes is longer than any of ours.`);
  return length;
}
