/** A key that is shown once. Kept as bytes, which can be overwritten: a text would stay in memory until it is collected. */
export class OneTimeSecret {
  readonly #bytes: Buffer;

  constructor(text: string) {
    this.#bytes = Buffer.from(text);
  }

  text(): string {
    return this.#bytes.toString();
  }

  /** After this nobody learns it from here. */
  forget(): void {
    this.#bytes.fill(" ");
  }
}
