import type { ServerResponse } from "node:http";
import { mayRespondWith } from "../web/response-headers.js";

export interface WriteOptions {
  readonly requestId: string;
  /** Whether its header Content-Length is about this body: a hook that changes a body leaves the old one there. */
  readonly isLengthTrue: boolean;
}

type Reader = ReadableStreamDefaultReader<unknown>;

/**
 * Sends a `Response`: no faster than the client takes it, and not at all once the client is gone. Rejects when the body fails before
 * anything was sent; a failure later cuts the connection.
 */
export async function writeResponse(to: ServerResponse, answer: Response, { requestId, isLengthTrue }: WriteOptions): Promise<void> {
  const { status } = answer;
  if (!(status >= 200 && status <= 599)) throw new TypeError(`${status} is not a status that can be answered with`);
  const { pairs, length } = headOf(answer, isLengthTrue);
  pairs.push("x-request-id", requestId);
  const mayHaveLength = status !== 204 && status !== 304;
  if (answer.body === null || !mayHaveBody(to, status)) {
    answer.body?.cancel().catch(() => undefined);
    const claimed = to.req.method === "HEAD" ? length : 0;
    if (mayHaveLength && claimed !== undefined) pairs.push("content-length", String(claimed));
    to.writeHead(status, pairs);
    to.end();
    return;
  }
  const reader: Reader = answer.body.getReader();
  const onClose = (): void => void reader.cancel(clientGone()).catch(() => undefined);
  to.once("close", onClose);
  try {
    await stream(to, reader, { status, pairs, length });
  } catch (error) {
    reader.cancel(error).catch(() => undefined);
    if (!to.headersSent) throw error;
    to.destroy();
  } finally {
    to.removeListener("close", onClose);
  }
}

async function stream(
  to: ServerResponse,
  reader: Reader,
  { status, pairs, length }: { status: number; pairs: string[]; length: number | undefined },
): Promise<void> {
  let chunk = await nextChunk(reader);
  let next = chunk && nextChunk(reader);
  // A failure is met where it is awaited.
  next?.catch(() => undefined);
  const isWhole = !next || (await isOverSoon(next));
  if (to.destroyed) return;
  const wholeLength = isWhole ? (chunk?.length ?? 0) : length;
  if (length !== undefined && wholeLength !== length)
    throw new Error(`it has ${wholeLength} bytes and not the ${length} of its Content-Length`);
  to.writeHead(status, wholeLength === undefined ? pairs : [...pairs, "content-length", String(wholeLength)]);
  let missing = wholeLength ?? Infinity;
  while (chunk) {
    missing -= chunk.length;
    if (missing < 0) throw new Error("it is longer than its Content-Length");
    if (!to.write(chunk)) await room(to);
    if (to.destroyed) return;
    chunk = await (next ?? nextChunk(reader));
    next = undefined;
  }
  if (missing > 0 && missing !== Infinity) throw new Error("it is shorter than its Content-Length");
  to.end();
}

/** Whether the stream ends with what has come of it: then the answer goes as one piece of known length. */
async function isOverSoon(next: Promise<Buffer | undefined>): Promise<boolean> {
  const waiting = Symbol("waiting");
  const first = await Promise.race([next, new Promise((resolve) => setImmediate(resolve, waiting))]);
  return first === undefined;
}

async function nextChunk(reader: Reader): Promise<Buffer | undefined> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    if (!(value instanceof Uint8Array)) throw new TypeError("its body gave something that is not bytes");
    if (value.byteLength > 0) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}

function room(to: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      to.removeListener("drain", done);
      to.removeListener("close", done);
      resolve();
    };
    if (to.destroyed) return done();
    to.on("drain", done);
    to.on("close", done);
  });
}

/** Its header lines as they may go to the client, and what it says about its length. */
function headOf(answer: Response, isLengthTrue: boolean): { pairs: string[]; length: number | undefined } {
  // What `fetch` received is decoded: encoding and length are those of what came over the wire.
  const isFetched = answer.url !== "" && answer.headers.has("content-encoding");
  const pairs: string[] = [];
  for (const [name, value] of answer.headers) {
    if (mayRespondWith(name, value) && !(isFetched && name === "content-encoding")) pairs.push(name, value);
  }
  const claimed = answer.headers.get("content-length") ?? "";
  return { pairs, length: isLengthTrue && !isFetched && /^\d{1,15}$/.test(claimed) ? Number(claimed) : undefined };
}

function mayHaveBody(to: ServerResponse, status: number): boolean {
  return to.req.method !== "HEAD" && status !== 204 && status !== 205 && status !== 304;
}

function clientGone(): DOMException {
  return new DOMException("The client is gone.", "AbortError");
}
