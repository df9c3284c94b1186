const storedName = "cpanel.session";

/**
 * Stores in the browser whether a session exists and when it expires, never the key. Each tab can thus warn before the expiry. Without a
 * stored session, the panel sends no session request, because the console would show the 401 response.
 */
export class RememberedSession {
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /**
   * Name under which the browser stores the expiry. Contains the path of the panel, because each daemon at the same origin has its own
   * session.
   */
  readonly #name: string;

  constructor(options: { storage: Pick<Storage, "getItem" | "setItem" | "removeItem">; panelPath: string }) {
    this.#storage = options.storage;
    this.#name = `${storedName} ${options.panelPath}`;
  }

  /** Whether the daemon can have a session of this browser. Always true if the browser allows no storage. */
  get isPossible(): boolean {
    try {
      return this.#storage.getItem(this.#name) !== null;
    } catch {
      return true;
    }
  }

  /** Stored expiry of the session in Unix seconds. Undefined if the expiry is unknown or has passed. */
  get endsAt(): number | undefined {
    try {
      const endsAt = Number(this.#storage.getItem(this.#name));
      return endsAt > Date.now() / 1000 ? endsAt : undefined;
    } catch {
      return undefined;
    }
  }

  /** Stores the expiry of a new session in Unix seconds, or 0 for an unknown expiry. */
  keep(endsAt: number): void {
    try {
      this.#storage.setItem(this.#name, String(endsAt));
    } catch {
      // Ignores the error. In a browser without storage, each reload of the panel requests the session from the daemon.
    }
  }

  forget(): void {
    try {
      this.#storage.removeItem(this.#name);
    } catch {
      // Ignores the error, because a browser without storage has no stored session to remove.
    }
  }
}
