import { IncomingMessage } from "node:http";

export interface ForwardOptions {
  /** The client's request. */
  readonly original: IncomingMessage;
  /** The plugin's request, which replaces the client's request. */
  readonly request: Request;
  /** Path and query of the new request. */
  readonly target: string;
  /** True if the plugin's request still has the body of the client. The client's `Content-Length` is then still valid. */
  readonly keepsLength: boolean;
  readonly isHandshake: boolean;
}

/** Headers of the plugin's request that the daemon does not copy, because it sets these headers itself. */
const ownNames = new Set(["content-length", "transfer-encoding", "expect", "connection", "upgrade", "host", "x-forwarded-for", "x-base"]);

/**
 * A request that a plugin returned, converted to an IncomingMessage for the next stages of the pipeline. The body streams with
 * backpressure.
 */
export class ForwardedMessage extends IncomingMessage {
  readonly #reader: ReadableStreamDefaultReader<unknown> | undefined;
  #isAwake = false;

  constructor(options: ForwardOptions) {
    const { original, request } = options;
    super(original.socket);
    // Keeps the method HEAD. A plugin that replaces a HEAD request by `new Request(url)` gets the method GET, but the response must have no
    // body.
    this.method = original.method === "HEAD" && request.method === "GET" ? "HEAD" : request.method;
    this.url = options.target;
    this.httpVersion = original.httpVersion;
    this.httpVersionMajor = original.httpVersionMajor;
    this.httpVersionMinor = original.httpVersionMinor;
    const lines = headerLinesOf(options);
    this.rawHeaders = lines.flat();
    // Uses one value per name, because each header name occurs only once in `lines`.
    this.headers = Object.fromEntries(lines);
    // Adds an error listener without effect. Without any listener, Node.js would throw an uncaught exception. The readers of the message
    // also receive the error.
    this.on("error", () => undefined);
    this.#reader = request.body?.getReader();
    if (this.#reader) return;
    this.complete = true;
    this.push(null);
  }

  override _read(size: number): void {
    // Node's `_read` only resumes the connection. The first `_read` must still call Node's function. Otherwise the stream never requests
    // its second chunk.
    // oxlint-disable-next-line no-underscore-dangle -- the name is defined by node:stream
    if (!this.#isAwake) super._read(size);
    this.#isAwake = true;
    this.#pull();
  }

  #pull(): void {
    this.#reader?.read().then(
      ({ done, value }) => (done ? this.#end() : this.#take(value)),
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  /** Cancels the body. The implementation of Node.js would also destroy the client's connection. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leaveBody(error);
    done(error);
  }

  #leaveBody(reason: unknown): void {
    this.#reader?.cancel(reason).catch(() => undefined);
  }

  #take(value: unknown): void {
    if (!(value instanceof Uint8Array)) {
      this.destroy(new TypeError("The body of a forwarded request must yield Uint8Array chunks."));
      return;
    }
    if (value.byteLength === 0) return this.#pull();
    this.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
  }

  #end(): void {
    this.complete = true;
    this.push(null);
  }
}

function headerLinesOf({ original, request, keepsLength, isHandshake }: ForwardOptions): [string, string][] {
  const lines: [string, string][] = [["host", request.headers.get("host") ?? original.headers.host ?? "localhost"]];
  for (const [name, value] of request.headers) if (!ownNames.has(name)) lines.push([name, value]);
  const forwardedFor = withoutPeer(request.headers.get("x-forwarded-for"), original.socket.remoteAddress ?? "unknown");
  if (forwardedFor !== undefined) lines.push(["x-forwarded-for", forwardedFor]);
  if (isHandshake) lines.push(["connection", "Upgrade"], ["upgrade", "websocket"]);
  if (!request.body) return lines;
  const length = keepsLength ? original.headers["content-length"] : undefined;
  // Uses the Content-Length of the client. If a plugin replaces the body, the Content-Length of its request can belong to the old body.
  lines.push(length === undefined ? ["transfer-encoding", "chunked"] : ["content-length", length]);
  return lines;
}

/** Removes the client's address from `X-Forwarded-For`. The daemon has added the address for plugins, and adds it again for the worker. */
function withoutPeer(value: string | null, peer: string): string | undefined {
  if (value === null || value === peer) return undefined;
  return value.endsWith(`, ${peer}`) ? value.slice(0, -peer.length - 2) : value;
}
