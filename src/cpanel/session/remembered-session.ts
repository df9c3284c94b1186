const storedName = "cpanel.session";

/**
 * Stores that a session exists and when it expires, so that each tab can warn before the expiry. Never stores the key. Without a stored
 * session, the panel sends no session request, whose 401 would appear on the console.
 */
export class RememberedSession {
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Name of the stored value, with the path of the panel: daemons behind the same origin have separate sessions. */
  readonly #name: string;

  constructor(options: { storage: Pick<Storage, "getItem" | "setItem" | "removeItem">; panelPath: string }) {
    this.#storage = options.storage;
    this.#name = `${storedName} ${options.panelPath}`;
  }

  /** Whether a session can exist. Always true in a browser without storage. */
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
      // Ignores the error: in a browser without storage, the panel requests the session from the daemon after each reload.
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
