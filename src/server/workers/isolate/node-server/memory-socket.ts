import { Duplex } from "node:stream";

interface MemorySocketOptions {
  /** Receives bytes that the server writes. The server writes further bytes after `done` is called. */
  readonly onOutput: (chunks: readonly Buffer[], done: () => void) => void;
  /** Called when the server accepts more bytes after `deliver` returned false. */
  readonly onRoom: () => void;
  /** Called when the server ends or destroys the connection. */
  readonly onClose: () => void;
}

/** The server's end of a connection that exists only in memory, with the methods of `net.Socket` that HTTP servers and their apps call. */
export class MemorySocket extends Duplex {
  /** Address of the daemon, as behind any proxy on the same machine. The header `X-Forwarded-For` contains the client's address. */
  readonly remoteAddress = "127.0.0.1";
  readonly remoteFamily = "IPv4";
  readonly remotePort = 0;
  readonly localAddress = "127.0.0.1";
  readonly localPort = 0;
  readonly encrypted = false;
  readonly connecting = false;
  readonly #options: MemorySocketOptions;

  constructor(options: MemorySocketOptions) {
    super();
    this.#options = options;
  }

  /** Passes bytes of the client to the server. Returns false when the server accepts no further bytes until `onRoom` is called. */
  deliver(bytes: Uint8Array): boolean {
    return this.push(bytes);
  }

  /** Ends the client's side of the connection. The connection closes when the server's side has also ended. */
  deliverEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  override _read(): void {
    this.#options.onRoom();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#options.onOutput([chunk], done);
  }

  override _writev(entries: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const chunks = entries.map(({ chunk }) => chunk);
    this.#options.onOutput(chunks, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#options.onClose();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#options.onClose();
    done(error);
  }

  /** Ends the connection after all bytes are written, like `destroySoon` of `net.Socket`. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  /** Has no effect and never calls `callback`, because the daemon enforces the time limits of connections. */
  setTimeout(_timeoutMs: number, _callback?: () => void): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  address(): { address: string; family: string; port: number } {
    return { address: this.localAddress, family: "IPv4", port: this.localPort };
  }
}
