import type { ResponseHead, ResponseHeads } from "./response-head.js";

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");
/** Maximum size in bytes of a response head, and of a line with a chunk size. If one of them is larger, the response fails. */
const maximumHeadBytes = 256 * 1024;

/** The rule that determines the end of the body. */
type Framing = { kind: "none" | "chunked" | "untilClose" } | { kind: "length"; rest: number };

/** Reads one HTTP/1.1 response of an `http.Server` of Node.js. Drops interim responses (1xx) and trailers. */
export class ResponseReader {
  head: ResponseHead | undefined;
  /** True if the connection can carry another request after this response. */
  isPersistent = true;
  isComplete = false;
  /** Body length in bytes from the header `Content-Length`. -1 if the length is unknown. */
  length = -1;
  readonly #method: string;
  readonly #heads: ResponseHeads;
  #waiting: Buffer = Buffer.alloc(0);
  #framing: Framing = { kind: "none" };
  /**
   * Number of bytes that are missing in the current chunk. Negative values stand for the next part: -1 for the size line of a chunk, -2 for
   * the line end after a chunk, -3 for trailers.
   */
  #chunkRest = -1;
  #body: Buffer[] = [];

  /** `method` is the method of the request. */
  constructor(method: string, heads: ResponseHeads) {
    this.#method = method;
    this.#heads = heads;
  }

  /** Bytes after the head of a 101 response. */
  get rest(): Buffer {
    return this.#waiting;
  }

  /** Reads bytes that the server has written. Throws if the bytes are not an HTTP response. */
  push(bytes: Buffer): void {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    if (!this.head && !this.#readHead()) return;
    if (this.head?.status !== 101) this.#readBody();
  }

  /** Handles the end of the connection. Returns whether the response is complete. */
  end(): boolean {
    if (this.head && this.#framing.kind === "untilClose") this.isComplete = true;
    this.isPersistent = false;
    return this.isComplete;
  }

  /** Returns the body bytes that arrived since the last call. */
  takeBody(): Buffer[] {
    const body = this.#body;
    this.#body = [];
    return body;
  }

  #readHead(): boolean {
    for (;;) {
      const end = this.#waiting.indexOf(headEnd);
      if (end === -1) {
        if (this.#waiting.length > maximumHeadBytes) throw new Error("The response of the server has too many headers.");
        return false;
      }
      const head = this.#heads.read(this.#waiting.toString("latin1", 0, end));
      this.#waiting = this.#waiting.subarray(end + headEnd.length);
      if (head.status < 200 && head.status !== 101) continue;
      this.#takeHead(head);
      return true;
    }
  }

  #takeHead(head: ResponseHead): void {
    const { status, length, isChunked, isPersistent } = head;
    this.head = head;
    this.isPersistent = isPersistent;
    if (this.#method === "HEAD" || status === 204 || status === 304) this.#framing = { kind: "none" };
    else if (isChunked) this.#framing = { kind: "chunked" };
    else if (length === undefined) this.#framing = { kind: "untilClose" };
    else {
      this.#framing = { kind: "length", rest: length };
      this.length = length;
    }
  }

  #readBody(): void {
    const framing = this.#framing;
    if (framing.kind === "none") {
      this.isComplete = true;
      return;
    }
    if (framing.kind === "chunked") return this.#readChunks();
    const bytes = framing.kind === "length" ? this.#waiting.subarray(0, framing.rest) : this.#waiting;
    this.#waiting = this.#waiting.subarray(bytes.length);
    if (bytes.length > 0) this.#body.push(bytes);
    if (framing.kind !== "length") return;
    framing.rest -= bytes.length;
    this.isComplete = framing.rest === 0;
    // Uses the connection for no further request if bytes follow after `Content-Length`. The isolate would read these bytes as the next
    // response.
    if (this.#waiting.length > 0) this.isPersistent = false;
  }

  #readChunks(): void {
    while (!this.isComplete) {
      if (this.#chunkRest > 0) {
        if (this.#waiting.length === 0) return;
        const bytes = this.#waiting.subarray(0, this.#chunkRest);
        this.#body.push(bytes);
        this.#waiting = this.#waiting.subarray(bytes.length);
        this.#chunkRest = this.#chunkRest === bytes.length ? -2 : this.#chunkRest - bytes.length;
        continue;
      }
      const line = this.#takeLine();
      if (line === undefined) return;
      if (this.#chunkRest === -3) this.isComplete = line === "";
      else if (this.#chunkRest === -2) this.#chunkRest = -1;
      else {
        const size = Number.parseInt(line, 16);
        if (!(size >= 0)) throw new Error("The server wrote a chunk without a size.");
        this.#chunkRest = size === 0 ? -3 : size;
      }
    }
  }

  #takeLine(): string | undefined {
    const end = this.#waiting.indexOf(lineEnd);
    if (end === -1) return undefined;
    const line = this.#waiting.toString("latin1", 0, end);
    this.#waiting = this.#waiting.subarray(end + lineEnd.length);
    return line;
  }
}
