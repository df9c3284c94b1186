const storedName = "cpanel.session";

/**
 * What this browser remembers of a session: that there is one, and when it ends. It spares a question whose answer would be an error
 * on the console of everybody who is not signed in, and tells each tab when to warn. The key is in a cookie that no script reads.
 */
export class RememberedSession {
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Daemons behind one origin have sessions of their own. */
  readonly #name: string;

  constructor(options: { storage: Pick<Storage, "getItem" | "setItem" | "removeItem">; panelPath: string }) {
    this.#storage = options.storage;
    this.#name = `${storedName} ${options.panelPath}`;
  }

  /** Whether there may be one: in a browser that keeps nothing, nobody knows. */
  get isPossible(): boolean {
    try {
      return this.#storage.getItem(this.#name) !== null;
    } catch {
      return true;
    }
  }

  /** Unix time in seconds; undefined when that is not known, or over. */
  get endsAt(): number | undefined {
    try {
      const endsAt = Number(this.#storage.getItem(this.#name));
      return endsAt > Date.now() / 1000 ? endsAt : undefined;
    } catch {
      return undefined;
    }
  }

  /** 0 when nobody says when it ends. */
  keep(endsAt: number): void {
    try {
      this.#storage.setItem(this.#name, String(endsAt));
    } catch {
      // Then a reload asks the daemon.
    }
  }

  forget(): void {
    try {
      this.#storage.removeItem(this.#name);
    } catch {
      // Nothing was kept.
    }
  }
}
