const storedName = "cpanel.session";

/**
 * Stores whether a session exists and when it expires, never the key. Without a stored session the panel sends no session request, which
 * would log a 401 on the console. Each tab reads the expiry to warn in time.
 */
export class RememberedSession {
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Daemons behind one origin have separate sessions. */
  readonly #name: string;

  constructor(options: { storage: Pick<Storage, "getItem" | "setItem" | "removeItem">; panelPath: string }) {
    this.#storage = options.storage;
    this.#name = `${storedName} ${options.panelPath}`;
  }

  /** Whether a session can exist. Unknown, and therefore true, in a browser without storage. */
  get isPossible(): boolean {
    try {
      return this.#storage.getItem(this.#name) !== null;
    } catch {
      return true;
    }
  }

  /** Unix time in seconds; undefined if unknown or over. */
  get endsAt(): number | undefined {
    try {
      const endsAt = Number(this.#storage.getItem(this.#name));
      return endsAt > Date.now() / 1000 ? endsAt : undefined;
    } catch {
      return undefined;
    }
  }

  /** 0 for an unknown expiry. */
  keep(endsAt: number): void {
    try {
      this.#storage.setItem(this.#name, String(endsAt));
    } catch {
      // When the browser has no storage, a reload requests the session from the daemon.
    }
  }

  forget(): void {
    try {
      this.#storage.removeItem(this.#name);
    } catch {
      // When the browser has no storage, no session is stored.
    }
  }
}
