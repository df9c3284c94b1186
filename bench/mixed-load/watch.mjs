import { setTimeout as delay } from "node:timers/promises";

const lookEveryMs = 25;
/** What another daemon does not have by then is lost to it; while the primary is away nothing about keys gets through. */
const lostAfterMs = 20_000;

/** Compares what daemons show with what the ledger says they may show. */
export class Watch {
  #daemons;
  #ledger;
  #record;

  constructor({ daemons, ledger, record }) {
    this.#daemons = daemons;
    this.#ledger = ledger;
    this.#record = record;
  }

  /** Waits until every daemon shows what was acknowledged just now; `at` has to show it at once. `look` gives what one shows. */
  async everywhere(subject, { at, look }) {
    const kind = subject.split(" ")[0];
    const askedAtMs = this.#record.nowMs();
    const first = await look(at);
    if (!this.#isPossible(subject, first)) this.#record.problem(`${subject}: ${at.name}, which acknowledged, shows ${first}`);
    await Promise.all(this.#daemons.all.filter((daemon) => daemon !== at).map((daemon) => this.#untilShown(subject, { daemon, look })));
    if (kind !== "key" || !this.#record.wasAwaySince(askedAtMs)) this.#record.seen(kind, this.#record.nowMs() - askedAtMs);
  }

  async #untilShown(subject, { daemon, look }) {
    let waitedFromMs = this.#record.nowMs();
    for (;;) {
      const shown = await look(daemon);
      if (this.#isPossible(subject, shown)) return;
      const isAboutKeys = subject.startsWith("key ");
      if (isAboutKeys && this.#record.wasAwaySince(this.#record.nowMs())) waitedFromMs = this.#record.nowMs();
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
