/**
 * A new API key, which the dashboard shows once. Stored as bytes, because bytes can be overwritten. A string would stay in memory until
 * garbage collection.
 */
export class OneTimeSecret {
  readonly #bytes: Buffer;

  constructor(text: string) {
    this.#bytes = Buffer.from(text);
  }

  text(): string {
    return this.#bytes.toString();
  }

  /** Overwrites the bytes of the API key. */
  forget(): void {
    this.#bytes.fill(" ");
  }
}
