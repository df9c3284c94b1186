import { ApiError } from "../../../shared/api-error.js";
import type { Context } from "../../command/command.js";
import type { connect } from "../../client/connection.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";
import { reasonOf, Session } from "./session.js";

/** The current session, or the reason why no session is open. */
type SessionState =
  | { readonly kind: "none"; readonly reason: string; readonly profile: string | undefined }
  | { readonly kind: "open"; readonly session: Session };

interface SessionsOptions {
  readonly refreshMs: number;
  readonly connect: typeof connect;
}

/** Manages the current session. Closes the session if the daemon rejects its API key. */
export class Sessions {
  readonly #context: Context;
  readonly #options: SessionsOptions;
  readonly #listeners = new Set<() => void>();
  #state: SessionState = { kind: "none", reason: "", profile: undefined };

  constructor(context: Context, options: SessionsOptions) {
    this.#context = context;
    this.#options = options;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): SessionState => this.#state;

  /** Opens a session with the profile. Without a profile, uses the settings of the command line. */
  async open(profile?: string): Promise<void> {
    this.close();
    const context = profile === undefined ? this.#context : ofProfile(this.#context, profile);
    try {
      const session = await Session.open(context, {
        ...this.#options,
        onRefused: (error) => this.#refused(session, error),
      });
      if (session.settings.key === undefined) {
        const reason = session.settings.keyWithheld ?? `no key is stored for ${session.settings.origin.value}`;
        this.#set({ kind: "none", reason, profile: session.settings.profile?.value });
      } else this.#set({ kind: "open", session });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.#set({ kind: "none", reason: reasonOf(error), profile });
    }
  }

  close(): void {
    if (this.#state.kind === "open") this.#state.session.close();
  }

  #refused(session: Session, error: Error): void {
    const isKeyRefused =
      (error instanceof ApiError && error.status === 401) ||
      (error instanceof CommandError && error.exitCode === exitCodes.notAuthenticated);
    if (!isKeyRefused || this.#state.kind !== "open" || this.#state.session !== session) return;
    session.close();
    const { profile, origin } = session.settings;
    this.#set({ kind: "none", reason: `${origin.value} rejects the key: ${error.message}`, profile: profile?.value });
  }

  #set(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** Returns the context for `--profile NAME`. Removes the flags and variables that select another daemon or API key. */
function ofProfile(context: Context, profile: string): Context {
  const { url: _url, keyFile: _keyFile, ...flags } = context.flags;
  const { RUNTIMECTL_URL: _variable, RUNTIMECTL_KEY: _key, RUNTIMECTL_KEY_FILE: _file, ...environment } = context.environment;
  return { ...context, environment, flags: { ...flags, profile } };
}
