import type { Principal } from "../../shared/contract/principal.js";
import * as session from "../../shared/contract/session.js";
import type { Connection } from "../live/connection.js";
import { DaemonAwayError } from "../live/daemon-away-error.js";
import { Observable } from "../live/observable.js";
import type { RememberedSession } from "./remembered-session.js";

export type SessionState =
  | { readonly phase: "looking" }
  | { readonly phase: "signed-out"; readonly hasLeft: boolean }
  | {
      readonly phase: "signed-in";
      readonly principal: Principal;
      /** Unix time in seconds; undefined when neither the daemon nor this browser's memory tells. */
      readonly endsAt: number | undefined;
      /** The daemon refuses the cookie: whoever is here has to sign in again, and loses nothing by it. */
      readonly hasEnded: boolean;
    };

const operations = { session };

/** Who is signed in. The key itself is in the cookie that no script can read, and nowhere else. */
export class Session {
  readonly state = new Observable<SessionState>({ phase: "looking" });
  readonly #connection: Pick<Connection, "client">;
  readonly #remembered: RememberedSession;

  constructor(options: { connection: Pick<Connection, "client">; remembered: RememberedSession }) {
    this.#connection = options.connection;
    this.#remembered = options.remembered;
  }

  /** Asks whether the browser still has a session from before. */
  async look(): Promise<void> {
    if (!this.#remembered.isPossible) return this.state.set({ phase: "signed-out", hasLeft: false });
    try {
      const { principal } = await this.#api().show();
      this.#enter(principal, this.#remembered.endsAt ?? principal.expiresAt);
    } catch (error) {
      // While the daemon is away it is asked again; anything else shows at the next attempt to sign in.
      if (error instanceof DaemonAwayError) return;
      this.#remembered.forget();
      this.state.set({ phase: "signed-out", hasLeft: false });
    }
  }

  /** Exchanges a key for the cookie. Throws what the daemon says. */
  async signIn(key: string): Promise<void> {
    const { principal, endsAt } = await this.#api().create({ body: { key } });
    this.#remembered.keep(endsAt ?? 0);
    this.#enter(principal, endsAt);
  }

  async signOut(): Promise<void> {
    await this.#api().remove();
    this.#remembered.forget();
    this.state.set({ phase: "signed-out", hasLeft: true });
  }

  /** A call was refused for want of a valid credential. */
  end(): void {
    const state = this.state.get();
    if (state.phase === "signed-in") this.state.set({ ...state, hasEnded: true });
  }

  #enter(principal: Principal, endsAt: number | undefined): void {
    this.state.set({ phase: "signed-in", principal, endsAt, hasEnded: false });
  }

  #api() {
    return this.#connection.client(operations).session;
  }
}
