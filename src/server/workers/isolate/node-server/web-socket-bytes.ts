export const Opcode = { Continuation: 0, Text: 1, Binary: 2, Close: 8, Ping: 9, Pong: 10 } as const;

export interface DecodedFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Reads the unmasked frames of a server (RFC 6455, section 5.2) without extensions. Joins the fragments of each message. */
export class FrameDecoder {
  #waiting: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #opcode: number = Opcode.Text;

  push(bytes: Buffer): void {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
  }

  /** Returns the next complete message or control frame. Throws for bytes that are not a valid frame from a server. */
  next(): DecodedFrame | undefined {
    for (;;) {
      const bytes = this.#waiting;
      if (bytes.length < 2) return undefined;
      const first = bytes[0] as number;
      const second = bytes[1] as number;
      if ((first & 0x70) !== 0 || (second & 0x80) !== 0) throw new Error("The server wrote an invalid WebSocket frame.");
      const lengthBytes = second < 126 ? 0 : second === 126 ? 2 : 8;
      const start = 2 + lengthBytes;
      if (bytes.length < start) return undefined;
      const length = lengthBytes === 0 ? second : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
      if (bytes.length < start + length) return undefined;
      const payload = bytes.subarray(start, start + length);
      this.#waiting = bytes.subarray(start + length);
      const opcode = first & 0x0f;
      if (opcode >= Opcode.Close) return { opcode, payload };
      if (opcode !== Opcode.Continuation) this.#opcode = opcode;
      this.#parts.push(payload);
      if ((first & 0x80) === 0) continue;
      const parts = this.#parts;
      this.#parts = [];
      return { opcode: this.#opcode, payload: parts.length === 1 ? payload : Buffer.concat(parts) };
    }
  }
}

/**
 * Encodes a frame in the form that a client sends. The masking key is zero, because masking only protects proxies and these bytes stay in
 * the process.
 */
export function encodeMasked(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const frame = Buffer.alloc(2 + lengthBytes + 4 + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2);
  if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  payload.copy(frame, 2 + lengthBytes + 4);
  return frame;
}

/** Encodes a close frame in the form that a client sends. If `code` is 1005, the frame contains no code. */
export function encodeClose(code: number, reason: string): Buffer {
  if (code === 1005) return encodeMasked(Opcode.Close, Buffer.alloc(0));
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code, 0);
  payload.write(reason, 2);
  return encodeMasked(Opcode.Close, payload);
}

export function readCloseFrame(payload: Buffer): { code: number | undefined; reason: string } {
  if (payload.length < 2) return { code: undefined, reason: "" };
  return { code: payload.readUInt16BE(0), reason: payload.toString("utf8", 2) };
}
