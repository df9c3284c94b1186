import { FrameKind, frameHeaderBytes, maximumPayloadBytes } from "./frames.js";

const slabBytes = 256 * 1024;
/** Longer bytes are handed to the socket as they are; shorter ones are cheaper to copy next to their header. */
const copyBytes = 8 * 1024;

/** Collects frames and hands them to the socket once per turn of the event loop. */
export class FrameWriter {
  #slab = Buffer.allocUnsafeSlow(slabBytes);
  /** Start of what was not handed out yet, and end of what is written. */
  #start = 0;
  #end = 0;
  #ready: Uint8Array[] = [];
  #isScheduled = false;
  /** The last frame, when it is a Chunk that can still grow. */
  #openChunk: { readonly exchange: number; readonly slab: Buffer; readonly at: number; length: number } | undefined;
  readonly #send: (pieces: Uint8Array[]) => void;
  readonly #flush = (): void => this.flush();

  constructor(send: (pieces: Uint8Array[]) => void) {
    this.#send = send;
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

  /** A piece of a body; one that follows another of the same body before they leave becomes part of it. The bytes must not change afterwards. */
  chunk(exchange: number, bytes: Uint8Array): void {
    const open = this.#openChunk;
    if (open?.exchange === exchange && open.length + bytes.byteLength <= maximumPayloadBytes) {
      open.length += bytes.byteLength;
      open.slab.writeUInt32LE(open.length, open.at);
    } else {
      const at = this.#header(FrameKind.Chunk, exchange, bytes.byteLength, 0);
      this.#openChunk = { exchange, slab: this.#slab, at: at - frameHeaderBytes, length: bytes.byteLength };
    }
    this.#append(bytes);
  }

  /** The bytes must not change afterwards. */
  bytes(kind: FrameKind, exchange: number, bytes: Uint8Array): void {
    this.#header(kind, exchange, bytes.byteLength, 0);
    this.#append(bytes);
  }

  request(exchange: number, head: string, bodyKind: number, body: Uint8Array | undefined): void {
    const fixed = 5 + head.length;
    const at = this.#header(FrameKind.Request, exchange, fixed + (body?.byteLength ?? 0), fixed);
    this.#slab[at] = bodyKind;
    this.#slab.writeUInt32LE(head.length, at + 1);
    this.#slab.write(head, at + 5, "latin1");
    this.#end = at + fixed;
    if (body) this.#append(body);
  }

  answer(exchange: number, status: number, head: string, content: string | Uint8Array): void {
    const fixed = 6 + head.length;
    // A long text gets a buffer of its own: a few of them would use up a slab.
    const body = typeof content === "string" && content.length > copyBytes ? Buffer.from(content) : content;
    const isText = typeof body === "string";
    // A UTF-8 text has at most three bytes per unit: reserving those spares counting first.
    const bodyRoom = isText ? body.length * 3 : body.byteLength;
    const at = this.#header(FrameKind.Answer, exchange, fixed + bodyRoom, isText ? fixed + bodyRoom : fixed);
    const slab = this.#slab;
    slab.writeUInt16LE(status, at);
    slab.writeUInt32LE(head.length, at + 2);
    slab.write(head, at + 6, "latin1");
    this.#end = at + fixed;
    if (!isText) return this.#append(body);
    const written = body === "" ? 0 : slab.write(body, at + fixed, "utf8");
    slab.writeUInt32LE(fixed + written, at - frameHeaderBytes);
    this.#end = at + fixed + written;
  }

  answerHead(exchange: number, status: number, head: string, bodyLength: number): void {
    const at = this.#header(FrameKind.AnswerHead, exchange, 10 + head.length);
    this.#slab.writeUInt16LE(status, at);
    this.#slab.writeDoubleLE(bodyLength, at + 2);
    this.#slab.write(head, at + 10, "latin1");
  }

  flush(): void {
    this.#isScheduled = false;
    this.#handOut();
    if (this.#ready.length === 0) return;
    this.#openChunk = undefined;
    const pieces = this.#ready;
    this.#ready = [];
    this.#send(pieces);
  }

  /** Writes a header, makes room for `room` bytes after it and returns where they start; `room` bytes count as written. */
  #header(kind: FrameKind, exchange: number, payloadBytes: number, room = payloadBytes): number {
    this.#openChunk = undefined;
    const needed = frameHeaderBytes + room;
    if (this.#end + needed > this.#slab.length) {
      this.#handOut();
      this.#slab = Buffer.allocUnsafeSlow(Math.max(slabBytes, needed));
      this.#start = this.#end = 0;
    }
    const slab = this.#slab;
    const at = this.#end;
    slab.writeUInt32LE(payloadBytes, at);
    slab[at + 4] = kind;
    slab.writeUInt32LE(exchange, at + 5);
    this.#end = at + needed;
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      // After the poll phase: everything that one turn produces leaves in one write.
      setImmediate(this.#flush);
    }
    return at + frameHeaderBytes;
  }

  #append(bytes: Uint8Array): void {
    if (bytes.byteLength <= copyBytes && this.#end + bytes.byteLength <= this.#slab.length) {
      this.#slab.set(bytes, this.#end);
      this.#end += bytes.byteLength;
      return;
    }
    this.#handOut();
    this.#ready.push(bytes);
  }

  #handOut(): void {
    if (this.#end === this.#start) return;
    this.#ready.push(this.#slab.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
