/**
 * Asks an isolate whether its event loop still turns: one ping at a time, sent behind what it is to prove. Each question has a
 * deadline, on the clock of `performance.now()`.
 */
export class LoopProbe {
  readonly #sendPing: () => void;
  #sentMs: number | undefined;
  #deadlineMs = Infinity;
  /** Of questions that came while a ping was under way: its answer says nothing about them. */
  #nextDeadlineMs: number | undefined;

  constructor(sendPing: () => void) {
    this.#sendPing = sendPing;
  }

  get isWaiting(): boolean {
    return this.#sentMs !== undefined;
  }

  ask(deadlineMs: number): void {
    if (this.#sentMs === undefined) this.#send(deadlineMs);
    else this.#nextDeadlineMs = Math.min(deadlineMs, this.#nextDeadlineMs ?? Infinity);
  }

  /** Throws when nobody asked. */
  onPong(): void {
    if (this.#sentMs === undefined) throw new Error("it answered a ping that nobody sent");
    this.#sentMs = undefined;
    const next = this.#nextDeadlineMs;
    this.#nextDeadlineMs = undefined;
    if (next !== undefined) this.#send(next);
  }

  /** For how long it has been silent; 0 = it answered. */
  silentMs(nowMs: number): number {
    return this.#sentMs === undefined ? 0 : nowMs - this.#sentMs;
  }

  /** True when it has been silent for `graceMs`, and for as long after a deadline. */
  isOverdue(nowMs: number, graceMs: number): boolean {
    const deadlineMs = Math.min(this.#deadlineMs, this.#nextDeadlineMs ?? Infinity);
    return this.isWaiting && this.silentMs(nowMs) >= graceMs && nowMs - graceMs > deadlineMs;
  }

  #send(deadlineMs: number): void {
    this.#sentMs = performance.now();
    this.#deadlineMs = deadlineMs;
    this.#sendPing();
  }
}
