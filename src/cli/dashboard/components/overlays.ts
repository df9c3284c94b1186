import type { ActionId } from "../keyboard/keymap.js";
import type { OneTimeSecret } from "../keys/one-time-secret.js";

const toastMs = 8000;

/** Content of a confirmation dialog. The dialog replaces the screen until the user confirms or cancels. */
export interface Question {
  /** Consequence of the action, with the number of affected items. */
  readonly consequence: string;
  /** The text that the user types to confirm. Undefined if the user confirms with `y`. */
  readonly name?: string | undefined;
  /** Whether the name is required because the profile is a production profile. */
  readonly isProduction?: boolean;
}

/** Properties of a text input with one line. */
export interface Prompt {
  readonly label: string;
  readonly initial: string;
  readonly hint: string;
  /** Whether pressing tab completes local paths. */
  readonly completesFiles?: boolean;
  /** Whether the typed text is hidden. For hidden text, white space at its start and end is kept. */
  readonly isSecret?: boolean;
  readonly onSubmit: (text: string) => void;
}

/** Label, size and cancel function of the upload or download that a progress overlay shows. */
export interface Transfer {
  readonly label: string;
  readonly totalBytes?: number | undefined;
  /** Runs the transfer until it is complete or the signal aborts. Resolves with a text that describes the result. */
  readonly run: (onBytes: (count: number) => void, signal: AbortSignal) => Promise<string>;
  /** Returns the text to show if the user cancels the transfer after this number of bytes. */
  readonly cancelled: (bytes: number) => string;
}

interface Toast {
  readonly kind: "done" | "warning" | "failed" | "note";
  readonly text: string;
}

export type Overlay =
  | { readonly kind: "help"; readonly valid: readonly ActionId[] }
  | { readonly kind: "palette"; readonly initial?: string }
  | { readonly kind: "upload" }
  | { readonly kind: "newKey" }
  | { readonly kind: "reveal"; readonly secret: OneTimeSecret; readonly about: readonly string[] }
  | { readonly kind: "prompt"; readonly prompt: Prompt }
  | { readonly kind: "transfer"; readonly transfer: Transfer }
  | { readonly kind: "lines"; readonly title: string; readonly lines: readonly string[] }
  | { readonly kind: "question"; readonly question: Question; readonly answer: (agreed: boolean) => void };

interface OverlayState {
  readonly overlay: Overlay | undefined;
  readonly toast: Toast | undefined;
}

/** State of the toast and of the current overlay. At most one overlay is open. */
export class Overlays {
  readonly #listeners = new Set<() => void>();
  #state: OverlayState = { overlay: undefined, toast: undefined };
  #timer: NodeJS.Timeout | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): OverlayState => this.#state;

  /** Replaces the current overlay. Has no effect while an overlay shows a new API key, which the user would lose. */
  show(overlay: Overlay): void {
    if (this.#state.overlay?.kind === "reveal") return;
    this.#set({ ...this.#state, overlay });
  }

  close(): void {
    if (this.#state.overlay?.kind === "reveal") this.#state.overlay.secret.forget();
    this.#set({ ...this.#state, overlay: undefined });
  }

  /** Shows a confirmation dialog. Resolves with whether the user confirmed. */
  ask(question: Question): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = (agreed: boolean) => {
        this.close();
        resolve(agreed);
      };
      this.show({ kind: "question", question, answer });
    });
  }

  say(kind: Toast["kind"], text: string): void {
    this.#set({ ...this.#state, toast: { kind, text } });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#set({ ...this.#state, toast: undefined }), toastMs);
    this.#timer.unref();
  }

  #set(state: OverlayState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
