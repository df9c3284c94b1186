import type { NewEvent } from "./runtime-events.js";

/** Tells when another version of a worker answers than before, whoever brought that about: a call, or a folder changed by hand. */
export class ActiveVersionTracker {
  readonly #publish: (event: NewEvent) => void;
  readonly #versions = new Map<string, string>();
  #isTelling = false;

  constructor(publish: (event: NewEvent) => void) {
    this.#publish = publish;
  }

  /** What was noted so far is how things are, and no news. */
  tellFromNowOn(): void {
    this.#isTelling = true;
  }

  /** undefined: none answers. */
  note(name: string, version: string | undefined): void {
    if (this.#versions.get(name) === version) return;
    if (version === undefined) this.#versions.delete(name);
    else this.#versions.set(name, version);
    if (!this.#isTelling) return;
    if (version === undefined) this.#publish({ type: "worker.answering", subject: { name }, message: "No version answers." });
    else this.#publish({ type: "worker.answering", subject: { name, version }, message: `Version ${version} answers.` });
  }
}
