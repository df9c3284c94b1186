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
      /** Whether the session has ended and the user must sign in again. The page keeps the user's input. */
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

  /** Whether a session can exist. False if the browser has stored no session. */
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
      // If the daemon is unreachable, the panel repeats the check later. Any other error means that no session exists. The next sign-in
      // reports the error if it persists.
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

  /** Marks the session as ended. Called when the daemon rejects the session cookie, or when the session expires. */
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
