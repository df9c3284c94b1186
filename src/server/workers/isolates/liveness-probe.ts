/** An isolate that does not answer a ping within this time is blocked. */
const pingTimeoutMs = 1000;
/** The same for one whose only calls have run out of their time: nobody loses anything with it, and somebody may ask again at once. */
const overduePingTimeoutMs = 500;

/**
 * Asks an isolate whether its event loop still turns: one ping at a time, sent behind what it is to prove. Each question has a
 * deadline, on the clock of `performance.now()`.
 */
export class LivenessProbe {
  readonly #sendPing: () => void;
  #sentMs: number | undefined;
  #deadlineMs = Infinity;
  /** Of questions that came while a ping was under way: its answer says nothing about them. */
  #nextDeadlineMs: number | undefined;
  /** Who waits for the next answer. */
  readonly #listeners: (() => void)[] = [];

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

  /** Asks, and resolves when it answers. */
  answered(): Promise<void> {
    this.ask(Infinity);
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  /** Throws when nobody asked. */
  onPong(): void {
    if (this.#sentMs === undefined) throw new Error("it answered a ping that nobody sent");
    this.#sentMs = undefined;
    for (const listener of this.#listeners.splice(0)) listener();
    const next = this.#nextDeadlineMs;
    this.#nextDeadlineMs = undefined;
    if (next !== undefined) this.#send(next);
  }

  /**
   * Whether the event loop does not come back: an endless loop or a blocked system call never would. A long computation has as much
   * time as its call had, and less only when nobody waits for it but others for the loop.
   */
  isBlocked(nowMs: number, { isWorking, isInTheWay }: { isWorking: boolean; isInTheWay: boolean }): boolean {
    const silentMs = this.#sentMs === undefined ? 0 : nowMs - this.#sentMs;
    if (isInTheWay && !isWorking && silentMs >= pingTimeoutMs) return true;
    const graceMs = isWorking ? pingTimeoutMs : overduePingTimeoutMs;
    const deadlineMs = Math.min(this.#deadlineMs, this.#nextDeadlineMs ?? Infinity);
    return this.isWaiting && silentMs >= graceMs && nowMs - graceMs > deadlineMs;
  }

  #send(deadlineMs: number): void {
    this.#sentMs = performance.now();
    this.#deadlineMs = deadlineMs;
    this.#sendPing();
  }
}
