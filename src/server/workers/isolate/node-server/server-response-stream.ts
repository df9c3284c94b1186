/** The streamed body of a server's response. The server can write more bytes only after the reader has taken the previous bytes. */
export class ServerResponseStream {
  readonly readable: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #onTaken: (() => void) | undefined;
  #hasEnded = false;

  constructor({ onCancel }: { onCancel: () => void }) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        // Completes a write in a later turn of the event loop, as a real socket does. `http.ServerResponse` of Node.js 26 passes bytes on
        // at the end of a turn, and would otherwise wait for a "drain" event that is never emitted.
        pull: () => void setImmediate(() => this.#release()),
        cancel: () => {
          this.#hasEnded = true;
          this.#release();
          onCancel();
        },
      },
      // Queues no chunk. The reader copies each chunk before it requests the next one, so the server can use its buffer again.
      { highWaterMark: 0 },
    );
  }

  /** Adds chunks to the stream. Calls `done` when the reader requests further bytes. */
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
