/** Calls after which it counts again how many there are at once. */
const windowCalls = 1024;

/**
 * Says when the calls that wait to be sent to an isolate should go: as soon as they are half of all that there are at once. So the isolate
 * works on one half while the daemon reads the other from its clients. Sent all together, at the end of a turn of the event loop, they
 * would have each of the two wait for the other; sent one by one, each would cost a write and a wake.
 */
export class BatchPolicy {
  #count = 0;
  /** The most calls at once, in this window and in the one before. */
  #most = 0;
  #mostBefore = 0;

  /** To be asked for each call: `waitingCount` of the `runningCount` calls of the isolate were not sent yet. */
  isDue(waitingCount: number, runningCount: number): boolean {
    if (runningCount > this.#most) this.#most = runningCount;
    this.#count += 1;
    if (this.#count === windowCalls) {
      this.#count = 0;
      this.#mostBefore = this.#most;
      this.#most = runningCount;
    }
    return waitingCount * 2 >= Math.max(this.#most, this.#mostBefore);
  }
}
