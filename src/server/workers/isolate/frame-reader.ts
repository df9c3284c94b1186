import { FrameKind, frameHeaderBytes, maximumPayloadBytes } from "./frames.js";

/** Payload of a frame: `buffer` from `start` to `end`. The bytes are never written to again, so views of them may be kept. */
export interface FramePayload {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

export type FrameHandler = (kind: number, exchange: number, payload: FramePayload) => void;

/**
 * Cuts what comes from the socket into frames. A frame is handed over whole; only a Chunk that is longer than what has come so far is
 * handed over in pieces, each as a Chunk of its own: where a body is cut means nothing, and collecting it would copy it.
 */
export class FrameReader {
  readonly #onFrame: FrameHandler;
  /** A frame whose end has not come yet, or only the beginning of its header. */
  #partial: Buffer | undefined;
  #filled = 0;
  /** Bytes that have not come yet of a Chunk that is handed over in pieces, and its exchange. */
  #chunkRest = 0;
  #chunkExchange = 0;

  constructor(onFrame: FrameHandler) {
    this.#onFrame = onFrame;
  }

  /** Throws when the stream cannot be one of frames. */
  read(chunk: Buffer): void {
    let at = this.#partial ? this.#complete(chunk) : 0;
    if (this.#chunkRest > 0) at = this.#passOn(chunk, at);
    // One object for all frames of a chunk: handlers read it at once.
    const payload = { buffer: chunk, start: 0, end: 0 };
    while (chunk.length - at >= frameHeaderBytes) {
      const length = payloadLength(chunk, at);
      const end = at + frameHeaderBytes + length;
      if (end > chunk.length) {
        if (chunk[at + 4] !== FrameKind.Chunk) break;
        this.#beginChunk(chunk, at, length);
        at = this.#passOn(chunk, at + frameHeaderBytes);
        return;
      }
      payload.start = at + frameHeaderBytes;
      payload.end = end;
      this.#onFrame(chunk[at + 4] as number, chunk.readUInt32LE(at + 5), payload);
      at = end;
    }
    if (at < chunk.length) this.#keep(chunk, at);
  }

  #beginChunk(header: Buffer, at: number, length: number): void {
    this.#chunkRest = length;
    this.#chunkExchange = header.readUInt32LE(at + 5);
  }

  /** Hands over what there is of the Chunk; returns where the next frame starts. */
  #passOn(chunk: Buffer, start: number): number {
    const end = Math.min(chunk.length, start + this.#chunkRest);
    if (end === start) return start;
    this.#chunkRest -= end - start;
    this.#onFrame(FrameKind.Chunk, this.#chunkExchange, { buffer: chunk, start, end });
    return end;
  }

  #keep(chunk: Buffer, at: number): void {
    const available = chunk.length - at;
    const size = available < frameHeaderBytes ? frameHeaderBytes : frameHeaderBytes + payloadLength(chunk, at);
    this.#partial = Buffer.allocUnsafe(size);
    this.#filled = chunk.copy(this.#partial, 0, at);
  }

  /** Fills up the partial frame; returns where the rest of the chunk starts. */
  #complete(chunk: Buffer): number {
    let at = 0;
    while (this.#partial) {
      const partial: Buffer = this.#partial;
      const copied = chunk.copy(partial, this.#filled, at);
      this.#filled += copied;
      at += copied;
      if (this.#filled < partial.length) return at;
      const length = payloadLength(partial, 0);
      const size = frameHeaderBytes + length;
      if (size > partial.length && partial[4] !== FrameKind.Chunk) {
        this.#partial = Buffer.allocUnsafe(size);
        partial.copy(this.#partial);
        continue;
      }
      this.#partial = undefined;
      if (size > partial.length) this.#beginChunk(partial, 0, length);
      else this.#onFrame(partial[4] as number, partial.readUInt32LE(5), { buffer: partial, start: frameHeaderBytes, end: size });
    }
    return at;
  }
}

function payloadLength(buffer: Buffer, at: number): number {
  const length = buffer.readUInt32LE(at);
  if (length > maximumPayloadBytes) throw new Error(`A frame of ${length} bytes is longer than any of ours.`);
  return length;
}
