import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FrameReader } from "../../../src/server/workers/protocol/frame-reader.js";
import { FrameWriter } from "../../../src/server/workers/protocol/frame-writer.js";
import { BodyKind, chunkBytes, FrameKind, inlineResponseBytes, maximumPayloadBytes } from "../../../src/server/workers/protocol/frames.js";

interface Frame {
  kind: number;
  exchange: number;
  payload: string;
}

function readAll(chunks: Uint8Array[]): Frame[] {
  const frames: Frame[] = [];
  const reader = new FrameReader((kind, exchange, { buffer, start, end }) =>
    frames.push({ kind, exchange, payload: buffer.toString("latin1", start, end) }),
  );
  for (const [index, chunk] of chunks.entries()) {
    for (let rest = chunk; rest.length > 0;) {
      const room = reader.room();
      const count = Math.min(room.length, rest.length);
      room.set(rest.subarray(0, count));
      reader.read(count);
      rest = rest.subarray(count);
    }
    // After `keep`, the next read uses another buffer. The rest of a frame can start at any offset.
    if (index % 3 === 0) reader.keep();
  }
  return frames;
}

/** Creates a writer into `pieces`. The writer has room for every write, like most sockets, or only for every third write. */
function writeInto(pieces: Uint8Array[], isSlow: boolean): FrameWriter {
  let count = 0;
  return new FrameWriter((ready) => {
    count += 1;
    const hasLeft = !isSlow || count % 3 === 0;
    pieces.push(...(hasLeft ? [Buffer.concat(ready)] : ready));
    // If the writer has room, the earlier bytes are sent, too.
    if (hasLeft) pieces.splice(0, pieces.length, Buffer.concat(pieces));
    return hasLeft;
  });
}

/** Splits bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => Math.floor(place * bytes.length)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe("the frames between the daemon and an isolate", () => {
  test("are read unchanged wherever their bytes are split into chunks", () => {
    const body = fc.oneof(fc.uint8Array({ maxLength: 50 }), fc.uint8Array({ minLength: 7000, maxLength: 100_000, size: "max" }));
    const frame = fc.record({ exchange: fc.nat(0xffff_ffff), body });
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 20 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }),
        fc.boolean(),
        (frames, places, isSlow) => {
          const pieces: Uint8Array[] = [];
          const writer = writeInto(pieces, isSlow);
          for (const { exchange, body: bytes } of frames) writer.bytes(FrameKind.SocketText, exchange, bytes);
          writer.flush();
          const wanted = frames.map(({ exchange, body: bytes }) => ({
            kind: FrameKind.SocketText,
            exchange,
            payload: Buffer.from(bytes).toString("latin1"),
          }));
          expect(readAll(cut(Buffer.concat(pieces), places))).toEqual(wanted);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("preserve the order of the body chunks of each exchange", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 50 }),
      fc.uint8Array({ minLength: 7000, maxLength: 90_000, size: "max" }),
    );
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ exchange: fc.integer({ min: 1, max: 3 }), bytes, isCopied: fc.boolean() }) },
      { weight: 1, arbitrary: fc.constantFrom("flush" as const, "ping" as const) },
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }),
        fc.boolean(),
        (steps, places, isSlow) => {
          const pieces: Uint8Array[] = [];
          const writer = writeInto(pieces, isSlow);
          for (const one of steps) {
            if (one === "flush") writer.flush();
            else if (one === "ping") writer.empty(FrameKind.Ping, 0);
            else if (one.isCopied) {
              const own = Uint8Array.from(one.bytes);
              for (let at = 0; at < own.length; at += chunkBytes) writer.copiedChunk(one.exchange, own.subarray(at, at + chunkBytes));
              own.fill(0);
            } else writer.chunk(one.exchange, one.bytes);
          }
          writer.flush();
          const chunks = steps.flatMap((one) => (typeof one === "string" ? [] : [one]));
          const frames = readAll(cut(Buffer.concat(pieces), places));
          for (const exchange of [1, 2, 3]) {
            const sent = Buffer.concat(chunks.filter((chunk) => chunk.exchange === exchange).map((chunk) => chunk.bytes)).toString(
              "latin1",
            );
            const arrived = frames.filter((frame) => frame.kind === FrameKind.Chunk && frame.exchange === exchange);
            expect(arrived.map(({ payload }) => payload).join("")).toBe(sent);
            expect(arrived.every(({ payload }) => payload.length > 0)).toBe(true);
          }
          expect(frames.filter(({ kind }) => kind === FrameKind.Ping)).toHaveLength(steps.filter((one) => one === "ping").length);
        },
      ),
      { numRuns: 80 },
    );
  });

  test("can contain responses with any text or bytes", () => {
    const body = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme", minLength: 3000, maxLength: 6000 }),
      fc.constantFrom("a".repeat(inlineResponseBytes), "é".repeat(inlineResponseBytes / 2), "é€𝄞".repeat(20_000)),
      fc.uint8Array(),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(body, fc.string({ unit: "binary-ascii" })), { maxLength: 10 }), fc.boolean(), (answers, isSlow) => {
        const pieces: Uint8Array[] = [];
        const writer = writeInto(pieces, isSlow);
        for (const [content, head] of answers) expect(writer.answer(7, 201, head, content)).toBe(true);
        writer.request(8, "head", BodyKind.Inline, Buffer.from("body"));
        writer.flush();
        const frames = readAll([Buffer.concat(pieces)]);
        expect(frames).toHaveLength(answers.length + 1);
        for (const [index, [content, head]] of answers.entries()) {
          const payload = Buffer.from((frames[index] as Frame).payload, "latin1");
          const headEnd = 6 + payload.readUInt32LE(2);
          expect([payload.readUInt16LE(0), payload.toString("latin1", 6, headEnd)]).toEqual([201, head]);
          expect(payload.subarray(headEnd).equals(Buffer.from(content as string))).toBe(true);
        }
        expect(frames.at(-1)).toEqual({ kind: FrameKind.Request, exchange: 8, payload: "\u0001\u0004\0\0\0headbody" });
      }),
      { numRuns: 60 },
    );
  });

  test("deliver a body in parts of at least 4 KB, even if it arrives byte by byte", () => {
    const pieces: Uint8Array[] = [];
    const writer = writeInto(pieces, false);
    const body = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 251));
    writer.chunk(3, body);
    writer.empty(FrameKind.End, 3);
    writer.flush();
    const read: { readonly kind: number; readonly bytes: Buffer }[] = [];
    const reader = new FrameReader((kind, _id, { buffer, start, end }) =>
      read.push({ kind, bytes: Buffer.from(buffer.subarray(start, end)) }),
    );
    for (const byte of Buffer.concat(pieces)) {
      reader.room()[0] = byte;
      reader.read(1);
    }
    const chunks = read.filter(({ kind }) => kind === FrameKind.Chunk);
    expect(chunks.length).toBeLessThanOrEqual(5);
    expect(Buffer.concat(chunks.map(({ bytes }) => bytes)).equals(body)).toBe(true);
    expect(read.at(-1)?.kind).toBe(FrameKind.End);
  });

  test("are not written when a response would exceed the maximum frame length", () => {
    const pieces: Uint8Array[] = [];
    const writer = writeInto(pieces, false);
    for (const body of [
      "a".repeat(inlineResponseBytes + 1),
      "€".repeat(inlineResponseBytes / 3 + 1),
      Buffer.alloc(inlineResponseBytes + 1),
    ]) {
      expect(writer.answer(1, 200, "head", body)).toBe(false);
    }
    writer.empty(FrameKind.Ping, 0);
    writer.flush();
    expect(readAll(pieces)).toEqual([{ kind: FrameKind.Ping, exchange: 0, payload: "" }]);
  });

  test("are held until release(), then sent at once or at the end of the event loop turn", async () => {
    const pieces: Uint8Array[] = [];
    const writer = writeInto(pieces, false);
    writer.hold();
    writer.empty(FrameKind.Ping, 1);
    await setImmediate();
    expect(pieces).toEqual([]);
    writer.release(false);
    expect(pieces).toEqual([]);
    await setImmediate();
    expect(readAll(pieces)).toMatchObject([{ exchange: 1 }]);
    writer.hold();
    writer.empty(FrameKind.Ping, 2);
    writer.release(true);
    expect(readAll(pieces)).toMatchObject([{ exchange: 1 }, { exchange: 2 }]);
    // The flushed frame leaves no timer behind, and the next frame is sent as before.
    writer.empty(FrameKind.Ping, 3);
    await setImmediate();
    expect(readAll(pieces)).toMatchObject([{ exchange: 1 }, { exchange: 2 }, { exchange: 3 }]);
  });

  test("are rejected as soon as the header contains a length above the maximum", () => {
    const header = Buffer.alloc(9);
    header.writeUInt32LE(maximumPayloadBytes + 1, 0);
    expect(() => readAll([header])).toThrow("longer");
    expect(() => readAll([header.subarray(0, 3), header.subarray(3)])).toThrow("longer");
  });
});
