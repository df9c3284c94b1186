/** Results as JSON. What is frozen does not change any more, so its text is kept for as long as the result lives. */
export class ResultTexts {
  readonly #kept = new WeakMap<object, Buffer>();

  of(result: unknown): string | Buffer {
    if (typeof result !== "object" || result === null || !Object.isFrozen(result)) return JSON.stringify(result);
    const kept = this.#kept.get(result);
    if (kept) return kept;
    const text = Buffer.from(JSON.stringify(result));
    this.#kept.set(result, text);
    return text;
  }
}
