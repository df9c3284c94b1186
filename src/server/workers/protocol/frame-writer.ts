import { FrameKind, frameHeaderBytes, inlineResponseBytes, maximumPayloadBytes } from "./frames.js";
import type { Socket } from "node:net";

const slabBytes = 256 * 1024;
/**
 * Minimum length of a byte array that the writer passes to the socket without a copy. For a shorter array, a copy after the frame header is
 * faster.
 */
const copyBytes = 8 * 1024;
/**
 * Number of waiting body bytes that cause a flush before the end of the turn. The receiver can then process these bytes at the same time.
 */
const handOverBytes = 128 * 1024;
/**
 * Maximum number of frame buffers (slabs) that the writer reuses. If the receiver does not read, all slabs are in use, and the writer
 * allocates new memory.
 */
const maximumSlabs = 8;
const encoder = new TextEncoder();

/** Collects frames and writes them to the socket once per turn of the event loop. */
export class FrameWriter {
  #slab: Buffer = Buffer.allocUnsafeSlow(slabBytes);
  /** Full slabs that the socket still uses. `#freeSlabs` contains the slabs that can be used again. */
  #lentSlabs: Buffer[] = [];
  #freeSlabs: Buffer[] = [];
  /** Position in the slab of the first written byte that is not queued for sending. `#end` is the end of the written bytes. */
  #start = 0;
  #end = 0;
  #ready: Uint8Array[] = [];
  #scheduled: NodeJS.Immediate | undefined;
  #isHeld = false;
  #waitingRequests = 0;
  /** Number of waiting bytes that the socket will receive without a copy. */
  #longBytes = 0;
  /** The last written frame, if it is a Chunk frame that more bytes can extend. */
  #openChunk: { readonly exchange: number; readonly slab: Buffer; readonly at: number; length: number } | undefined;
  readonly #send: (pieces: Uint8Array[]) => boolean;
  readonly #flush = (): void => this.flush();

  /** `send` returns true if the socket has sent all bytes. The writer can then use their memory again. */
  constructor(send: (pieces: Uint8Array[]) => boolean) {
    this.#send = send;
  }

  /** Number of written Request frames that are not flushed yet. */
  get waitingRequests(): number {
    return this.#waitingRequests;
  }

  empty(kind: FrameKind, exchange: number): void {
    this.#header(kind, exchange, 0);
  }

  byte(kind: FrameKind, exchange: number, value: number): void {
    const at = this.#header(kind, exchange, 1);
    this.#slab[at] = value;
  }

  number(kind: FrameKind, exchange: number, value: number): void {
    const at = this.#header(kind, exchange, 4);
    this.#slab.writeUInt32LE(value, at);
  }

  json(kind: FrameKind, exchange: number, value: unknown): void {
    this.bytes(kind, exchange, Buffer.from(JSON.stringify(value)));
  }

  /**
   * Writes body bytes. If the last frame is an unsent Chunk frame of the same body, extends it. The caller must not change the bytes
   * afterwards. Returns whether a new frame was begun.
   */
  chunk(exchange: number, bytes: Uint8Array): boolean {
    const isNew = this.#chunkHeader(exchange, bytes.byteLength, 0);
    this.#append(bytes);
    if (this.#longBytes >= handOverBytes) this.flush();
    return isNew;
  }

  /** Writes a copy of at most 64 KB of body bytes. In all other respects, works like `chunk`. */
  copiedChunk(exchange: number, bytes: Uint8Array): boolean {
    const size = bytes.byteLength;
    if (!this.#hasRoom(frameHeaderBytes + size)) return this.chunk(exchange, Uint8Array.prototype.slice.call(bytes));
    const isNew = this.#chunkHeader(exchange, size, size);
    this.#slab.set(bytes, this.#end);
    this.#end += size;
    return isNew;
  }

  /** Writes a frame with bytes as its payload. The caller must not change the bytes afterwards. */
  bytes(kind: FrameKind, exchange: number, bytes: Uint8Array): void {
    this.#header(kind, exchange, bytes.byteLength, 0);
    this.#append(bytes);
  }

  request(exchange: number, head: string, bodyKind: number, body: Uint8Array | undefined): void {
    const fixed = 5 + head.length;
    const at = this.#header(FrameKind.Request, exchange, fixed + (body?.byteLength ?? 0), fixed);
    this.#waitingRequests += 1;
    this.#slab[at] = bodyKind;
    this.#slab.writeUInt32LE(head.length, at + 1);
    this.#slab.write(head, at + 5, "latin1");
    this.#end = at + fixed;
    if (body) this.#append(body);
  }

  /**
   * Writes a complete response in one frame. If the body is too long for one frame, returns false and writes nothing. The caller must not
   * change the body afterwards.
   */
  answer(exchange: number, status: number, head: string, body: string | Uint8Array): boolean {
    if (body.length > inlineResponseBytes) return false;
    const fixed = 6 + head.length;
    // Reserves three bytes for each UTF-16 unit, the maximum in UTF-8. The bytes then do not have to be counted first.
    const room = typeof body === "string" ? Math.min(body.length * 3, inlineResponseBytes) : 0;
    if (room > copyBytes * 3 && !this.#hasRoom(frameHeaderBytes + fixed + room)) {
      return this.answer(exchange, status, head, Buffer.from(body as string));
    }
    const at = this.#header(FrameKind.FullResponse, exchange, fixed + body.length, fixed + room);
    const slab = this.#slab;
    slab.writeUInt16LE(status, at);
    slab.writeUInt32LE(head.length, at + 2);
    slab.write(head, at + 6, "latin1");
    this.#end = at + fixed;
    if (typeof body !== "string") {
      this.#append(body);
      return true;
    }
    const written = writeText(slab, body, this.#end, room);
    if (written === undefined) {
      this.#end = at - frameHeaderBytes;
      return false;
    }
    slab.writeUInt32LE(fixed + written, at - frameHeaderBytes);
    this.#end += written;
    return true;
  }

  responseHead(exchange: number, status: number, head: string, bodyLength: number): void {
    const at = this.#header(FrameKind.ResponseHead, exchange, 10 + head.length);
    this.#slab.writeUInt16LE(status, at);
    this.#slab.writeDoubleLE(bodyLength, at + 2);
    this.#slab.write(head, at + 10, "latin1");
  }

  /** True while written frames wait for a call of `release`. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Keeps frames until the call of `release` or `flush`. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Ends `hold`. With `atOnce`, sends the frames immediately. Otherwise sends them at the end of the turn of the event loop. */
  release(atOnce: boolean): void {
    this.#isHeld = false;
    if (atOnce) this.flush();
    else if (this.#end !== this.#start || this.#ready.length > 0) this.#schedule();
  }

  flush(): void {
    if (this.#scheduled) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    this.#waitingRequests = 0;
    this.#longBytes = 0;
    this.#handOut();
    if (this.#ready.length === 0) return;
    this.#openChunk = undefined;
    const pieces = this.#ready;
    this.#ready = [];
    if (this.#send(pieces)) this.reuse();
  }

  /** Makes the slabs available again. Call it after the socket has sent all bytes. */
  reuse(): void {
    if (this.#start === this.#end && this.#ready.length === 0) this.#start = this.#end = 0;
    if (this.#lentSlabs.length === 0) return;
    this.#freeSlabs = [...this.#freeSlabs, ...this.#lentSlabs].slice(0, maximumSlabs - 1);
    this.#lentSlabs = [];
  }

  /** Writes the header of a frame and reserves `room` bytes after it. Returns the position of the payload. */
  #header(kind: FrameKind, exchange: number, payloadBytes: number, room = payloadBytes): number {
    this.#openChunk = undefined;
    const needed = frameHeaderBytes + room;
    if (this.#end + needed > this.#slab.length) this.#makeRoom(needed);
    const slab = this.#slab;
    const at = this.#end;
    slab.writeUInt32LE(payloadBytes, at);
    slab[at + 4] = kind;
    slab.writeUInt32LE(exchange, at + 5);
    this.#end = at + needed;
    if (!this.#isHeld) this.#schedule();
    return at + frameHeaderBytes;
  }

  /** Schedules one write for all frames of this turn of the event loop, after its poll phase. */
  #schedule(): void {
    this.#scheduled ??= setImmediate(this.#flush);
  }

  /** Begins a Chunk frame and returns true, or extends the last one and returns false. Makes sure that `room` bytes are free. */
  #chunkHeader(exchange: number, size: number, room: number): boolean {
    const open = this.#openChunk;
    if (open?.exchange === exchange && open.length + size <= maximumPayloadBytes && this.#end + room <= this.#slab.length) {
      open.length += size;
      open.slab.writeUInt32LE(open.length, open.at);
      return false;
    }
    const at = this.#header(FrameKind.Chunk, exchange, size, room);
    this.#end = at;
    this.#openChunk = { exchange, slab: this.#slab, at: at - frameHeaderBytes, length: size };
    return true;
  }

  /** Returns true if `needed` bytes are free in a slab, or if a new slab is within the limit. */
  #hasRoom(needed: number): boolean {
    if (this.#end + needed <= this.#slab.length) return true;
    // Flushes first. If the socket sends all bytes, the slab is free again.
    this.flush();
    if (this.#end + needed <= this.#slab.length || this.#freeSlabs.some((slab) => slab.length >= needed)) return true;
    return this.#lentSlabs.length + this.#freeSlabs.length < maximumSlabs - 1;
  }

  #makeRoom(needed: number): void {
    const isKnownSlab = this.#hasRoom(needed);
    if (this.#end + needed <= this.#slab.length) return;
    this.#lentSlabs.push(this.#slab);
    const free = this.#freeSlabs.findIndex((slab) => slab.length >= needed);
    const [slab] = this.#freeSlabs.splice(free, free === -1 ? 0 : 1);
    // Allocates twice the needed size, because a worker that sends one long text usually sends several.
    this.#slab = slab ?? Buffer.allocUnsafeSlow(Math.max(slabBytes, isKnownSlab ? needed * 2 : needed));
    this.#start = this.#end = 0;
  }

  #append(bytes: Uint8Array): void {
    if (bytes.byteLength <= copyBytes && this.#end + bytes.byteLength <= this.#slab.length) {
      this.#slab.set(bytes, this.#end);
      this.#end += bytes.byteLength;
      return;
    }
    this.#handOut();
    this.#ready.push(bytes);
    this.#longBytes += bytes.byteLength;
  }

  #handOut(): void {
    if (this.#end === this.#start) return;
    this.#ready.push(this.#slab.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

/** Writes a text as UTF-8 and returns the number of bytes. Returns undefined if the text needs more than `room` bytes. */
function writeText(slab: Buffer, text: string, at: number, room: number): number | undefined {
  if (text === "") return 0;
  if (text.length * 3 <= room) return slab.write(text, at, "utf8");
  const { read, written } = encoder.encodeInto(text, slab.subarray(at, at + room));
  return read === text.length ? written : undefined;
}

/** Returns a writer that sends frames to a socket. Several buffers become one write. */
export function writeFramesTo(socket: Socket): FrameWriter {
  const writer = new FrameWriter((pieces) => {
    if (!socket.writable) return false;
    if (pieces.length > 1) socket.cork();
    for (const piece of pieces) socket.write(piece);
    if (pieces.length > 1) socket.uncork();
    return socket.writableLength === 0;
  });
  socket.on("drain", () => {
    if (socket.writableLength === 0) writer.reuse();
  });
  return writer;
}
