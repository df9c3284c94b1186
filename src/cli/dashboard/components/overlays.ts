import type { ActionId } from "../keyboard/keymap.js";
import type { OneTimeSecret } from "../keys/one-time-secret.js";

const toastMs = 8000;

/** Content of a confirmation dialog. The dialog replaces the screen until the user answers. */
export interface Question {
  /** Consequence of the action, including the number of affected items. */
  readonly consequence: string;
  /** The text that the user types to confirm. Undefined if the user confirms with `y`. */
  readonly name?: string | undefined;
  /** Whether the user must type the profile name, because the profile is a production profile. */
  readonly isProduction?: boolean;
}

/** Properties of a text input of one line. */
export interface Prompt {
  readonly label: string;
  readonly initial: string;
  readonly hint: string;
  /** Whether the tab key completes local paths. */
  readonly completesFiles?: boolean;
  /** Whether the input hides the typed text. White space at the start and end of hidden text is kept. */
  readonly isSecret?: boolean;
  readonly onSubmit: (text: string) => void;
}

/** An upload or download whose progress an overlay shows. */
export interface Transfer {
  readonly label: string;
  readonly totalBytes?: number | undefined;
  /** Runs the transfer until it is complete or the signal aborts. Resolves with a text about the result. */
  readonly run: (onBytes: (count: number) => void, signal: AbortSignal) => Promise<string>;
  /** Returns the text to show if the user cancels the transfer after `bytes` bytes. */
  readonly cancelled: (bytes: number) => string;
}

interface Toast {
  readonly kind: "done" | "warning" | "failed" | "note";
  readonly text: string;
}

/** Shows a new API key once. */
interface Reveal {
  readonly kind: "reveal";
  readonly secret: OneTimeSecret;
  readonly about: readonly string[];
}

export type Overlay =
  | Reveal
  | { readonly kind: "help"; readonly valid: readonly ActionId[] }
  | { readonly kind: "palette"; readonly initial?: string }
  | { readonly kind: "upload" }
  | { readonly kind: "newKey" }
  | { readonly kind: "prompt"; readonly prompt: Prompt }
  | { readonly kind: "transfer"; readonly transfer: Transfer }
  | { readonly kind: "lines"; readonly title: string; readonly lines: readonly string[]; readonly isWrapped?: boolean }
  | { readonly kind: "question"; readonly question: Question; readonly answer: (agreed: boolean) => void };

interface OverlayState {
  readonly overlay: Overlay | undefined;
  readonly toast: Toast | undefined;
}

/** State of the current overlay and of the toast, a short message in the status line. At most one overlay is open. */
export class Overlays {
  readonly #listeners = new Set<() => void>();
  /** New API keys to show after the current one. */
  readonly #waiting: Reveal[] = [];
  #state: OverlayState = { overlay: undefined, toast: undefined };
  #timer: NodeJS.Timeout | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): OverlayState => this.#state;

  /**
   * Replaces the current overlay. While an overlay shows a new API key, further new keys wait, and other overlays are not shown. Otherwise
   * the new key would disappear, and the user could not see the key again.
   */
  show(overlay: Overlay): void {
    if (this.#state.overlay?.kind !== "reveal") this.#set({ ...this.#state, overlay });
    else if (overlay.kind === "reveal") this.#waiting.push(overlay);
  }

  /** Closes the current overlay, and shows the next new API key, if there is one. */
  close(): void {
    if (this.#state.overlay?.kind === "reveal") this.#state.overlay.secret.forget();
    this.#set({ ...this.#state, overlay: this.#waiting.shift() });
  }

  /** Shows a confirmation dialog. Resolves with true if the user confirms, else with false. */
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
