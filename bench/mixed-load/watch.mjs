import { setTimeout as delay } from "node:timers/promises";

const lookEveryMs = 25;
/**
 * Time after which a change that another daemon does not show counts as lost. Changes do not reach other daemons while the primary is
 * unavailable.
 */
const lostAfterMs = 20_000;

/** Compares the state that daemons show with the states that the ledger allows. */
export class Watch {
  #daemons;
  #ledger;
  #record;

  constructor({ daemons, ledger, record }) {
    this.#daemons = daemons;
    this.#ledger = ledger;
    this.#record = record;
  }

  /**
   * Waits until every daemon shows the change that was just acknowledged. The daemon `at` must show it immediately. `look` returns the
   * state that one daemon shows.
   */
  async everywhere(subject, { at, look }) {
    const kind = subject.split(" ")[0];
    const askedAtMs = this.#record.nowMs();
    const first = await look(at);
    if (!this.#isPossible(subject, first)) this.#record.problem(`${subject}: ${at.name}, which acknowledged, shows ${first}`);
    await Promise.all(this.#daemons.all.filter((daemon) => daemon !== at).map((daemon) => this.#untilShown(subject, { daemon, look })));
    if (!this.#record.wasAwaySince(askedAtMs)) this.#record.seen(kind, this.#record.nowMs() - askedAtMs);
  }

  async #untilShown(subject, { daemon, look }) {
    let waitedFromMs = this.#record.nowMs();
    for (;;) {
      const shown = await look(daemon);
      if (this.#isPossible(subject, shown)) return;
      if (this.#record.wasAwaySince(this.#record.nowMs())) waitedFromMs = this.#record.nowMs();
      if (this.#record.nowMs() - waitedFromMs > lostAfterMs) {
        this.#record.problem(`${subject}: ${daemon.name} shows ${shown}, acknowledged is ${this.#ledger.possible(subject).join(" or ")}`);
        return;
      }
      await delay(lookEveryMs);
    }
  }

  #isPossible(subject, shown) {
    return this.#ledger.possible(subject).includes(shown);
  }
}
