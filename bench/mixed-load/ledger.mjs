/**
 * What was acknowledged, by subject (such as `app uploaded-0`), and what was asked for and not acknowledged: of the latter either may hold.
 * Who changes a subject is alone with it, so what was acknowledged last is what has to be there.
 */
export class Ledger {
  #entries = new Map();
  acknowledgedChanges = 0;

  begin(subject, value) {
    const entry = this.#entries.get(subject) ?? { acknowledged: "absent", open: new Set() };
    entry.open.add(value);
    this.#entries.set(subject, entry);
  }

  acknowledge(subject, value) {
    this.acknowledgedChanges += 1;
    this.#entries.set(subject, { acknowledged: value, open: new Set() });
  }

  /** The change was refused by an answer that says so, and never was. */
  refuse(subject, value) {
    this.#entries.get(subject).open.delete(value);
  }

  /** What may be there now. */
  possible(subject) {
    const { acknowledged, open } = this.#entries.get(subject);
    return [acknowledged, ...open];
  }

  /** All subjects of a kind: of the kind `app`, those named `app …`. */
  subjectsOf(kind) {
    return [...this.#entries.keys()].filter((subject) => subject.startsWith(`${kind} `));
  }
}
