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
      /** Unix time in seconds; undefined if neither the daemon nor this browser provides it. */
      readonly endsAt: number | undefined;
      /** The daemon rejects the cookie. The user must sign in again and loses no input. */
      readonly hasEnded: boolean;
    };

const operations = { session };

/** The session of the panel. The key is only in a cookie that scripts cannot read. */
export class Session {
  readonly state = new Observable<SessionState>({ phase: "looking" });
  readonly #connection: Pick<Connection, "client">;
  readonly #remembered: RememberedSession;

  constructor(options: { connection: Pick<Connection, "client">; remembered: RememberedSession }) {
    this.#connection = options.connection;
    this.#remembered = options.remembered;
  }

  /** Requests whether the browser has a session. */
  async look(): Promise<void> {
    if (!this.#remembered.isPossible) return this.state.set({ phase: "signed-out", hasLeft: false });
    try {
      const { principal } = await this.#api().show();
      this.#enter(principal, this.#remembered.endsAt ?? principal.expiresAt);
    } catch (error) {
      // An unreachable daemon is requested again; other errors appear at the next sign-in.
      if (error instanceof DaemonAwayError) return;
      this.#remembered.forget();
      this.state.set({ phase: "signed-out", hasLeft: false });
    }
  }

  /** Exchanges a key for the cookie. Throws the daemon's error. */
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

  /** Ends the session after a call without a valid credential. */
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
