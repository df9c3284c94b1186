/** The streamed body of a server's response. The server can write the next bytes when the reader has taken the previous ones. */
export class ServerResponseStream {
  readonly readable: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #onTaken: (() => void) | undefined;
  #hasEnded = false;

  constructor({ onCancel }: { onCancel: () => void }) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        // Not immediately: like for a real socket, a write must not end between a `response.write()` and the next turn of the event loop.
        // Otherwise `http.ServerResponse` of Node 26, which passes bytes on at the end of the turn, waits for a "drain" that never comes.
        pull: () => void setImmediate(() => this.#release()),
        cancel: () => {
          this.#hasEnded = true;
          this.#release();
          onCancel();
        },
      },
      // The reader copies a chunk before it requests the next one, so the server can reuse its buffer then.
      { highWaterMark: 0 },
    );
  }

  /** Calls `done` when the reader requests more than these chunks. */
  write(chunks: readonly Uint8Array[], done: () => void): void {
    if (this.#hasEnded || chunks.length === 0) return done();
    this.#onTaken = done;
    this.#controller?.enqueue(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks));
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#controller?.close();
    this.#release();
  }

  fail(error: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#controller?.error(error);
    this.#release();
  }

  #release(): void {
    const done = this.#onTaken;
    this.#onTaken = undefined;
    done?.();
  }
}
