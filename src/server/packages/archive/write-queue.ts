import { open } from "node:fs/promises";

/** As many as libuv has threads for: their fsyncs share the journal's commits, which makes each four times cheaper. */
const writersAtOnce = 4;

/** Writes small files to stable storage, a few at a time, while the caller goes on reading. */
export class WriteQueue {
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** Takes a file on; waits while too many are under way. Throws what an earlier one failed with. */
  async add(path: string, mode: number, content: Buffer): Promise<void> {
    while (this.#running.size >= writersAtOnce) await Promise.race(this.#running);
    if (this.#failure) throw this.#failure.error;
    const writing = writeFile(path, mode, content)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(writing));
    this.#running.add(writing);
  }

  /** Waits for all that were taken on. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure) throw this.#failure.error;
  }
}

async function writeFile(path: string, mode: number, content: Buffer): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
