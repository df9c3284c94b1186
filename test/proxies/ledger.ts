/**
 * For each subject, the last acknowledged value and the later values with an unknown outcome. Each subject has one writer, so one of these
 * values must be stored.
 */
export class Ledger {
  /** Counts of acknowledged changes and of changes with an unknown outcome. */
  acknowledged = 0;
  open = 0;
  readonly #entries = new Map<string, { acknowledged: string; readonly open: Set<string> }>();

  /** Makes a change. `ask` and the returned promise resolve with whether the change was acknowledged. */
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

  /** Returns the values that the subject can have now. */
  possible(subject: string): string[] {
    const entry = this.#entries.get(subject);
    return entry ? [entry.acknowledged, ...entry.open] : ["absent"];
  }
}
