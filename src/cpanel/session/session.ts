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
      /** Expiry of the session in Unix seconds. Undefined if neither the daemon nor this browser's storage provides it. */
      readonly endsAt: number | undefined;
      /** Whether the session has ended. The user must then sign in again, and loses no input. */
      readonly hasEnded: boolean;
    };

const operations = { session };

/** Signs the user in and out, and provides the state of the session. The key is stored only in a cookie that scripts cannot read. */
export class Session {
  readonly state = new Observable<SessionState>({ phase: "looking" });
  readonly #connection: Pick<Connection, "client">;
  readonly #remembered: RememberedSession;

  constructor(options: { connection: Pick<Connection, "client">; remembered: RememberedSession }) {
    this.#connection = options.connection;
    this.#remembered = options.remembered;
  }

  /** Whether the browser can have a session. */
  get isPossible(): boolean {
    return this.#remembered.isPossible;
  }

  /** Checks with the daemon whether the browser has a valid session. Sends no request if the browser has stored no session. */
  async look(): Promise<void> {
    if (!this.#remembered.isPossible) return this.state.set({ phase: "signed-out", hasLeft: false });
    try {
      const { principal } = await this.#api().show();
      this.#enter(principal, this.#remembered.endsAt ?? principal.expiresAt);
    } catch (error) {
      // If the daemon is unreachable, the panel repeats the check of the session later. Any other error is ignored here, because the next sign-in reports it.
      if (error instanceof DaemonAwayError) return;
      this.#remembered.forget();
      this.state.set({ phase: "signed-out", hasLeft: false });
    }
  }

  /** Sends a key to the daemon, which sets the session cookie. Throws the daemon's error. */
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

  /** Marks the session as ended, because the daemon rejected the session cookie or the session expired. */
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
