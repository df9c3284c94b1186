/** What is read ahead of a slow consumer before the sender is told to wait. */
const mostWaitingBytes = 256 * 1024;

export interface BodyControl {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** The body of an answer as it comes, for one reader, who may go at any time. */
export class StreamedBody implements AsyncIterable<Uint8Array> {
  readonly #control: BodyControl;
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #failure: Error | undefined;
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(control: BodyControl) {
    this.#control = control;
  }

  push(piece: Uint8Array): void {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes > mostWaitingBytes) this.#control.pause();
    this.#wake?.();
  }

  end(failure?: Error): void {
    this.#isEnded = true;
    this.#failure = failure;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const pieces = this.#waiting.splice(0);
        this.#waitingBytes = 0;
        if (pieces.length > 0) this.#control.resume();
        yield* pieces;
        if (this.#waiting.length > 0) continue;
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#isEnded) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      if (!this.#isEnded) this.#control.abort(new Error("the reader went away"));
    }
  }
}
