import { Duplex } from "node:stream";

interface MemorySocketOptions {
  /** Receives bytes from the server. The server writes no further bytes before the call of `done`. */
  readonly onOutput: (chunks: readonly Buffer[], done: () => void) => void;
  /** Called when the server accepts bytes again, after `deliver` has returned false. */
  readonly onCapacity: () => void;
  /** Called when the server has ended or destroyed the connection. */
  readonly onClose: () => void;
}

/** The server's side of a connection in memory. Has the methods of `net.Socket` that HTTP servers and their apps call. */
export class MemorySocket extends Duplex {
  /** Address of the daemon, which acts as a proxy on the same machine. The header `X-Forwarded-For` contains the client's address. */
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

  /** Passes bytes of the client to the server. Returns false if the server accepts no further bytes before the call of `onCapacity`. */
  deliver(bytes: Uint8Array): boolean {
    return this.push(bytes);
  }

  /** Ends the client's side of the connection. The connection closes when the server has ended its side too. */
  deliverEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  override _read(): void {
    this.#options.onCapacity();
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

  /** Ends the connection after all bytes are written. `net.Socket` has a function with the same name. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  /** Does nothing and never calls `callback`, because the daemon enforces the time limits of connections. */
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
