/**
 * What was acknowledged, by subject, and what was asked for without an acknowledgement: of the latter either may hold. Whoever changes a
 * subject is alone with it, so what was acknowledged last is what has to be there.
 */
export class Ledger {
  /** How often a change was acknowledged, and how often its outcome stayed open. */
  acknowledged = 0;
  open = 0;
  readonly #entries = new Map<string, { acknowledged: string; readonly open: Set<string> }>();

  /** Asks for a change. `ask`, and so this, tells whether it was acknowledged. */
  async change(subject: string, value: string, ask: () => Promise<boolean>): Promise<boolean> {
    const entry = this.#entries.get(subject) ?? { acknowledged: "absent", open: new Set<string>() };
    this.#entries.set(subject, entry);
    entry.open.add(value);
    const isDone = await ask();
    if (!isDone) {
      this.open += 1;
      return false;
    }
    this.acknowledged += 1;
    entry.acknowledged = value;
    entry.open.clear();
    return true;
  }

  subjects(kind: string): string[] {
    return [...this.#entries.keys()].filter((subject) => subject.startsWith(`${kind} `));
  }

  /** What may be there now. */
  possible(subject: string): string[] {
    const entry = this.#entries.get(subject);
    return entry ? [entry.acknowledged, ...entry.open] : ["absent"];
  }
}
