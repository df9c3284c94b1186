import { Duplex } from "node:stream";

interface MemorySocketOptions {
  /** Receives bytes that the server writes. `done` accepts the next ones. */
  readonly onOutput: (chunks: readonly Buffer[], done: () => void) => void;
  /** Called when the server accepts more bytes after `deliver` returned false. */
  readonly onRoom: () => void;
  /** Called when the server ends or destroys the connection. */
  readonly onClose: () => void;
}

/** The server's end of a connection that exists only in memory, with the methods of `net.Socket` that HTTP servers and their apps call. */
export class MemorySocket extends Duplex {
  /** Address of the daemon, as behind any proxy on the same machine; `X-Forwarded-For` has the client's. */
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

  /** Passes bytes of the client to the server. Returns false when it does not accept more at the moment. */
  deliver(bytes: Uint8Array): boolean {
    return this.push(bytes);
  }

  /** Ends the client's side. With the server's side ended, too, the connection closes. */
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

  /** Like `net.Socket`: ends the connection after everything is written. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  /** The time limits of connections are the daemon's; this has no effect, except that `callback` is never called. */
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
