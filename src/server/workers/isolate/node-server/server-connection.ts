import type { Server } from "node:http";
import { LazyRequest, lineFeed, type LazyBody } from "../../../web/lazy-request.js";
import type { PairedWebSocket } from "../web-socket.js";
import { MemorySocket } from "./memory-socket.js";
import type { ResponseHead, ResponseHeads } from "./response-head.js";
import { ResponseReader } from "./response-reader.js";
import { ServerResponseStream } from "./server-response-stream.js";
import { ServerAnswer } from "./server-answer.js";
import { WebSocketBridge } from "./web-socket-bridge.js";

/**
 * Opens a WebSocket for the client. `lines` are the headers of the server's 101 response, as in `ResponseHead`. Returns a 101 response with
 * one end of a WebSocketPair, and the second end as `server`.
 */
export type OpenWebSocket = (lines: string) => { response: Response; server: PairedWebSocket };

interface ServerConnectionOptions {
  readonly server: Server;
  readonly heads: ResponseHeads;
  readonly openWebSocket: OpenWebSocket;
  /** Called when the connection can transfer the next request. */
  readonly onIdle: (connection: ServerConnection) => void;
  readonly onClose: (connection: ServerConnection) => void;
}

/**
 * A persistent connection in memory to an `http.Server`, for one request at a time. Transfers HTTP text, because the event "connection" is
 * public API. The server then creates `IncomingMessage`, `ServerResponse` and upgrade sockets itself.
 */
export class ServerConnection {
  readonly #options: ServerConnectionOptions;
  readonly #socket: MemorySocket;
  #reader: ResponseReader | undefined;
  #stream: ServerResponseStream | undefined;
  #bridge: WebSocketBridge | undefined;
  #settle: { resolve: (answer: unknown) => void; reject: (error: Error) => void } | undefined;
  #isBodySent = true;
  #isClosed = false;
  #onCapacity: (() => void) | undefined;

  constructor(options: ServerConnectionOptions) {
    this.#options = options;
    this.#socket = new MemorySocket({
      onOutput: (chunks, done) => this.#onOutput(chunks, done),
      onCapacity: () => this.#wake(),
      onClose: () => this.#onSocketClose(),
    });
    // Ignores socket errors, because after an upgrade the "error" listener of the server does not prevent an uncaught exception.
    this.#socket.on("error", () => undefined);
    options.server.emit("connection", this.#socket);
    // Starts to read, so that the server handles even the first request during `deliver`. Errors of the handler then reach the caller.
    this.#socket.read(0);
  }

  /** Sends a request to the server. Returns the response. If the server does not respond immediately, returns a promise of the response. */
  request(request: LazyRequest): unknown {
    const { head, body } = LazyRequest.partsOf(request);
    const { method, text, isChunked } = requestText(head, body);
    const reader = new ResponseReader(method, this.#options.heads);
    let answer: unknown;
    let failure: Error | undefined;
    this.#reader = reader;
    this.#settle = { resolve: (value) => (answer = value), reject: (error) => (failure = error) };
    LazyRequest.onAbort(request, () => this.#abort(reader));
    const inline = body?.inline;
    this.#isBodySent = !body || inline !== undefined;
    try {
      this.#socket.deliver(inline ? Buffer.concat([Buffer.from(text, "latin1"), inline]) : Buffer.from(text, "latin1"));
    } catch (error) {
      // Closes the connection if the request handler of the server threw an error synchronously.
      this.#settle = undefined;
      this.#socket.destroy();
      throw error;
    }
    if (body && inline === undefined) void this.#sendBody(body, { reader, isChunked });
    if (failure) throw failure;
    if (answer !== undefined) return answer;
    return new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async #sendBody(body: LazyBody, { reader, isChunked }: { reader: ResponseReader; isChunked: boolean }): Promise<void> {
    const source = body.toStream().getReader();
    try {
      for (;;) {
        const { done, value } = await source.read();
        if (this.#reader !== reader || this.#isClosed) return void source.cancel().catch(() => undefined);
        if (done) break;
        const bytes = isChunked ? Buffer.concat([Buffer.from(`${value.byteLength.toString(16)}\r\n`), value, lineEnd]) : value;
        if (!this.#socket.deliver(bytes)) await new Promise<void>((resolve) => (this.#onCapacity = resolve));
      }
      if (isChunked) this.#socket.deliver(Buffer.from("0\r\n\r\n"));
      this.#isBodySent = true;
    } catch {
      // Closes the connection if the client stopped sending the request body.
      if (this.#reader === reader) this.#socket.destroy();
    }
  }

  #onOutput(chunks: readonly Buffer[], done: () => void): void {
    if (this.#bridge) return this.#bridge.onOutput(chunks, done);
    const reader = this.#reader;
    // Discards output after the end of a response, such as body bytes beyond `Content-Length`.
    if (!reader) return done();
    try {
      for (const chunk of chunks) reader.push(chunk);
    } catch (error) {
      done();
      this.#fail(error as Error);
      return;
    }
    if (!reader.head) return done();
    if (reader.head.status === 101) return this.#switchProtocols(reader, reader.head, done);
    if (!this.#stream && !reader.isComplete) {
      this.#stream = new ServerResponseStream({ onCancel: () => this.#abort(reader) });
      this.#answer(new ServerAnswer(reader.head, this.#stream.readable, reader.length));
    }
    if (this.#stream) this.#stream.write(reader.takeBody(), done);
    else {
      this.#answer(new ServerAnswer(reader.head, Buffer.concat(reader.takeBody())));
      done();
    }
    if (reader.isComplete) this.#finish(reader);
  }

  #switchProtocols(reader: ResponseReader, head: ResponseHead, done: () => void): void {
    const { response, server } = this.#options.openWebSocket(head.lines);
    this.#bridge = new WebSocketBridge(this.#socket, server);
    this.#answer(response);
    this.#bridge.onOutput([reader.rest], done);
  }

  #answer(answer: unknown): void {
    this.#settle?.resolve(answer);
    this.#settle = undefined;
  }

  #finish(reader: ResponseReader): void {
    this.#stream?.end();
    this.#reader = undefined;
    this.#stream = undefined;
    if (reader.isPersistent && this.#isBodySent && !this.#isClosed) return this.#options.onIdle(this);
    // Destroys the socket in a later turn of the event loop, because the server must first emit "finish".
    setImmediate(() => this.#socket.destroy());
  }

  #fail(error: Error): void {
    this.#settle?.reject(error);
    this.#settle = undefined;
    this.#stream?.fail(error);
    this.#socket.destroy();
  }

  /** Aborts the request of `reader`, because the client has disconnected. */
  #abort(reader: ResponseReader): void {
    if (this.#reader !== reader || this.#bridge) return;
    this.#answer(undefined);
    this.#reader = undefined;
    this.#socket.destroy();
  }

  #onSocketClose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake();
    this.#options.onClose(this);
    if (this.#bridge) return this.#bridge.onClose();
    const reader = this.#reader;
    if (!reader) return;
    if (reader.end()) return this.#finish(reader);
    this.#reader = undefined;
    this.#fail(new Error("The server closed the connection before the end of its response."));
  }

  #wake(): void {
    const wake = this.#onCapacity;
    this.#onCapacity = undefined;
    wake?.();
  }
}

const lineEnd = Buffer.from("\r\n");

/** Returns the request line and the headers as HTTP/1.1 text. `isChunked` is true if the length of the body is unknown. */
function requestText(head: string, body: LazyBody | undefined): { method: string; text: string; isChunked: boolean } {
  const lines = head.split(lineFeed);
  const [method, , path] = lines as [string, string, string];
  let text = `${method} ${path} HTTP/1.1\r\n`;
  let hasHost = false;
  let length: string | undefined;
  for (let index = 3; index + 1 < lines.length; index += 2) {
    const name = lines[index] as string;
    const value = lines[index + 1] as string;
    if (name === "content-length") length = value;
    // Omits `sec-websocket-extensions`, because the daemon negotiates extensions with the client.
    else if (name !== "sec-websocket-extensions") text += `${name}: ${value}\r\n`;
    hasHost ||= name === "host";
  }
  if (!hasHost) text += "host: localhost\r\n";
  const inline = body?.inline;
  if (inline) length = String(inline.byteLength);
  const isChunked = body !== undefined && length === undefined;
  if (isChunked) text += "transfer-encoding: chunked\r\n";
  else if (length !== undefined && (body || length === "0")) text += `content-length: ${length}\r\n`;
  return { method, text: `${text}\r\n`, isChunked };
}
