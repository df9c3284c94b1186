import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from "node:http";

/** Number of buffered bytes at which `write` returns false. */
const highWaterBytes = 64 * 1024;

type Done = (error?: Error | null) => void;
type Chunk = string | Uint8Array;
type HeaderList = OutgoingHttpHeaders | readonly unknown[];

/** Destination of the response body: a buffer until the hooks have run, then the client, the reader of a `Response`, or nothing. */
type Course = "held" | "client" | "reader" | "nowhere";

/**
 * Takes the place of the client's ServerResponse. Hooks can change the response before the client receives it. Backpressure and
 * disconnection of the client still reach the writer.
 */
export class ResponseInterceptor extends ServerResponse {
  /** Headers as the writer passed them: name, value, next name. */
  pairs: readonly string[] = [];
  readonly #client: ServerResponse;
  readonly #onBegun: (answer: ResponseInterceptor) => void;
  #course: Course = "held";
  #hasHead = false;
  #hasBegun = false;
  #hasEnded = false;
  #isGone = false;
  #chunks: Buffer[] = [];
  #heldBytes = 0;
  #wake: (() => void) | undefined;

  /**
   * `onBegun` is called once, when the headers are complete. The buffer then contains all of a short body, or the beginning of a longer
   * body.
   */
  constructor(options: { request: IncomingMessage; client: ServerResponse; onBegun: (answer: ResponseInterceptor) => void }) {
    super(options.request);
    this.#client = options.client;
    this.#onBegun = options.onBegun;
    // Prevents FastResponseWriter from writing to the socket directly, which would skip this class.
    this.sendDate = false;
    this.#client.once("close", () => this.#leave());
  }

  // Defines the getters at run time, because the types of ServerResponse declare these members as properties and TypeScript rejects getters
  // for properties.
  static {
    const define = (name: string, get: (answer: ResponseInterceptor) => unknown): void =>
      void Object.defineProperty(ResponseInterceptor.prototype, name, {
        get(this: ResponseInterceptor) {
          return get(this);
        },
        configurable: true,
      });
    define("headersSent", (answer) => answer.#hasHead);
    define("writableEnded", (answer) => answer.#hasEnded);
    define("closed", (answer) => answer.#isGone);
    define("writableNeedDrain", (answer) => !answer.#hasRoom);
  }

  /** True if the whole response is buffered. */
  get isWhole(): boolean {
    return this.#hasEnded && this.#course === "held";
  }

  /** Returns the body for a `Response`. Returns null if HTTP allows no body with this status or method. */
  toBody(): Buffer | ReadableStream<Uint8Array> | null {
    const { statusCode: status } = this;
    if (this.req.method === "HEAD" || status === 204 || status === 205 || status === 304) return null;
    if (this.isWhole) return this.#heldBytes === 0 ? null : joined(this.#chunks);
    return new ReadableStream(
      {
        pull: (controller) => this.#feed(controller),
        cancel: () => this.#leave(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Sends the response with the given status and headers and with the original body. The body must be unread. */
  sendAs(status: number, pairs: readonly string[]): void {
    const client = this.#client;
    if (client.destroyed) return;
    this.#course = "client";
    client.writeHead(status, pairs as string[]);
    const body = joined(this.#chunks);
    this.#chunks = [];
    if (this.#hasEnded) return void client.end(body);
    client.flushHeaders();
    client.on("drain", () => this.emit("drain"));
    if (body.length === 0 || client.write(body)) this.emit("drain");
  }

  /** Discards the remaining part of the response. */
  drop(): void {
    this.#leave();
  }

  override writeHead(status: number, second?: string | HeaderList, third?: HeaderList): this {
    const headers = typeof second === "string" ? third : second;
    this.statusCode = status;
    this.pairs = [...pairsOf(this.getHeaders(), headers ?? []), ...pairsOf(headers ?? [], [])];
    this.#hasHead = true;
    return this;
  }

  override flushHeaders(): void {
    this.#begin();
  }

  override write(chunk: Chunk, second?: BufferEncoding | Done, third?: Done): boolean {
    this.#take(chunk, typeof second === "string" ? second : undefined);
    this.#begin();
    done(second, third);
    return this.#hasRoom;
  }

  override end(first?: Chunk | Done, second?: BufferEncoding | Done, third?: Done): this {
    if (this.#hasEnded) return this;
    if (first !== undefined && first !== null && typeof first !== "function")
      this.#take(first, typeof second === "string" ? second : undefined);
    this.#hasEnded = true;
    this.#begin();
    if (this.#course === "client" && !this.#client.writableEnded) this.#client.end();
    this.#wakeReader();
    done(first, second, third);
    return this;
  }

  /** Aborts the response and the client's connection. */
  override destroy(error?: Error): this {
    this.#client.destroy(error);
    this.#leave();
    return this;
  }

  get #hasRoom(): boolean {
    if (this.#isGone) return true;
    if (this.#course === "client") return !this.#client.writableNeedDrain;
    return this.#heldBytes < (this.#course === "held" ? 1 : highWaterBytes);
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (!this.#hasHead) this.writeHead(this.statusCode);
    this.#onBegun(this);
  }

  #take(chunk: Chunk, encoding: BufferEncoding | undefined): void {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#course === "nowhere" || bytes.length === 0) return;
    if (this.#course === "client") {
      this.#client.write(bytes);
      return;
    }
    this.#chunks.push(bytes);
    this.#heldBytes += bytes.length;
    this.#wakeReader();
  }

  async #feed(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (this.#course === "held") this.#course = "reader";
    while (this.#chunks.length === 0 && !this.#hasEnded && !this.#isGone) await new Promise<void>((resolve) => (this.#wake = resolve));
    const chunk = this.#chunks.shift();
    if (!chunk) return this.#hasEnded ? controller.close() : controller.error(new DOMException("The response was aborted.", "AbortError"));
    const hadRoom = this.#hasRoom;
    this.#heldBytes -= chunk.length;
    controller.enqueue(new Uint8Array(chunk));
    if (!hadRoom || this.#heldBytes === 0) this.emit("drain");
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Reports the disconnection of the client to the writer, and discards further output. */
  #leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.destroyed = true;
    if (this.#course !== "client") {
      this.#course = "nowhere";
      if (!this.#hasEnded) this.#chunks = [];
    }
    this.#wakeReader();
    this.emit("close");
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

function done(...callbacks: unknown[]): void {
  for (const callback of callbacks) if (typeof callback === "function") process.nextTick(callback);
}

/** Converts headers of any form to a list: name, value, next name. Omits each header that `winning` also contains. */
function pairsOf(headers: HeaderList, winning: HeaderList): string[] {
  const entries = entriesOf(headers);
  const names = new Set(entriesOf(winning).map(([name]) => name.toLowerCase()));
  return entries
    .filter(([name]) => !names.has(name.toLowerCase()))
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).flatMap((text) => [name, String(text)]));
}

function entriesOf(headers: HeaderList): [string, unknown][] {
  if (!Array.isArray(headers)) return Object.entries(headers).filter(([, value]) => value !== undefined);
  if (Array.isArray(headers[0])) return headers as [string, unknown][];
  const entries: [string, unknown][] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) entries.push([String(headers[index]), headers[index + 1]]);
  return entries;
}
