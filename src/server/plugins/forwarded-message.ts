import { IncomingMessage } from "node:http";

export interface HandedOn {
  /** What the client sent. */
  readonly original: IncomingMessage;
  /** What goes on in its place. */
  readonly request: Request;
  /** Path and query. */
  readonly target: string;
  /** The body is the client's, so what was said about its length holds. */
  readonly keepsLength: boolean;
  readonly isHandshake: boolean;
}

/** Headers that the HTTP message, or the writer of the head that an app sees, sets again. */
const ownNames = new Set(["content-length", "transfer-encoding", "expect", "connection", "upgrade", "host", "x-forwarded-for", "x-base"]);

/** A request that a plugin handed on, made the message that the rest of the way takes; its body streams as fast as it is read. */
export class ForwardedMessage extends IncomingMessage {
  readonly #reader: ReadableStreamDefaultReader<unknown> | undefined;
  #isAwake = false;

  constructor(handedOn: HandedOn) {
    const { original, request } = handedOn;
    super(original.socket);
    // A HEAD that was handed on as GET, which is what `new Request(url)` is, stays one: its answer has no body.
    this.method = original.method === "HEAD" && request.method === "GET" ? "HEAD" : request.method;
    this.url = handedOn.target;
    this.httpVersion = original.httpVersion;
    this.httpVersionMajor = original.httpVersionMajor;
    this.httpVersionMinor = original.httpVersionMinor;
    const lines = headerLinesOf(handedOn);
    this.rawHeaders = lines.flat();
    // Each name is there once.
    this.headers = Object.fromEntries(lines);
    // Whoever reads it hears of failures; so that one is no fault of the daemon where nobody does.
    this.on("error", () => undefined);
    this.#reader = request.body?.getReader();
    if (this.#reader) return;
    this.complete = true;
    this.push(null);
  }

  override _read(size: number): void {
    // Node's own does no more than wake the connection, but without it no message asks for its second piece.
    // oxlint-disable-next-line no-underscore-dangle -- the name that streams give to it
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

  /** Unlike a message that came by its connection, this one does not end it. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leaveBody(error);
    done(error);
  }

  #leaveBody(reason: unknown): void {
    this.#reader?.cancel(reason).catch(() => undefined);
  }

  #take(value: unknown): void {
    if (!(value instanceof Uint8Array)) {
      this.destroy(new TypeError("The body of a request that was handed on gave something that is not bytes."));
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

function headerLinesOf({ original, request, keepsLength, isHandshake }: HandedOn): [string, string][] {
  const lines: [string, string][] = [["host", request.headers.get("host") ?? original.headers.host ?? "localhost"]];
  for (const [name, value] of request.headers) if (!ownNames.has(name)) lines.push([name, value]);
  const forwardedFor = withoutPeer(request.headers.get("x-forwarded-for"), original.socket.remoteAddress ?? "unknown");
  if (forwardedFor !== undefined) lines.push(["x-forwarded-for", forwardedFor]);
  if (isHandshake) lines.push(["connection", "Upgrade"], ["upgrade", "websocket"]);
  if (!request.body) return lines;
  const length = keepsLength ? original.headers["content-length"] : undefined;
  // Who handed on another body may have left the headers of the old one.
  lines.push(length === undefined ? ["transfer-encoding", "chunked"] : ["content-length", length]);
  return lines;
}

/** The peer was added to what plugins see, and will be once more to what the app sees. */
function withoutPeer(value: string | null, peer: string): string | undefined {
  if (value === null || value === peer) return undefined;
  return value.endsWith(`, ${peer}`) ? value.slice(0, -peer.length - 2) : value;
}
