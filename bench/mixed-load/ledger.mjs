/**
 * The acknowledged state of each subject, such as `app uploaded-0`, and the unacknowledged changes, which possibly took effect. Only one
 * client at a time changes a subject, so the daemons must show its last acknowledged value.
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

  /** Records that an error response rejected the change, so the change must never become visible. */
  refuse(subject, value) {
    this.#entries.get(subject).open.delete(value);
  }

  /** Returns the states that the daemons can have now. */
  possible(subject) {
    const { acknowledged, open } = this.#entries.get(subject);
    return [acknowledged, ...open];
  }

  /** Returns all subjects of a kind. The names of the subjects start with the kind, such as `app …`. */
  subjectsOf(kind) {
    return [...this.#entries.keys()].filter((subject) => subject.startsWith(`${kind} `));
  }
}
