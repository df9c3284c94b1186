import type { ActionId } from "../keyboard/keymap.js";
import type { OneTimeSecret } from "../keys/one-time-secret.js";

const toastMs = 8000;

/** A confirmation dialog that replaces the screen until the user confirms or cancels. */
export interface Question {
  /** The consequence of the action, with counts. */
  readonly consequence: string;
  /** The text that the user types to confirm. Undefined: `y` confirms. */
  readonly name?: string | undefined;
  /** Whether the name is required because the profile is a production profile. */
  readonly isProduction?: boolean;
}

/** A one-line input. */
export interface Prompt {
  readonly label: string;
  readonly initial: string;
  readonly hint: string;
  /** Whether `tab` completes local paths. */
  readonly completesFiles?: boolean;
  /** Whether the input is hidden. White space is part of it. */
  readonly isSecret?: boolean;
  readonly onSubmit: (text: string) => void;
}

/** An upload or download. */
export interface Transfer {
  readonly label: string;
  readonly totalBytes?: number | undefined;
  /** Runs the transfer until it is complete or the signal aborts. Resolves with the result text. */
  readonly run: (onBytes: (count: number) => void, signal: AbortSignal) => Promise<string>;
  /** Returns the text for a cancellation after this number of bytes. */
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

/** State of the current overlay, at most one, and of the toast. */
export class Overlays {
  readonly #listeners = new Set<() => void>();
  #state: OverlayState = { overlay: undefined, toast: undefined };
  #timer: NodeJS.Timeout | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): OverlayState => this.#state;

  /** Replaces the current overlay, unless it shows a new key, which would be lost. */
  show(overlay: Overlay): void {
    if (this.#state.overlay?.kind === "reveal") return;
    this.#set({ ...this.#state, overlay });
  }

  close(): void {
    if (this.#state.overlay?.kind === "reveal") this.#state.overlay.secret.forget();
    this.#set({ ...this.#state, overlay: undefined });
  }

  /** Shows a confirmation dialog. Resolves with true when the user confirms. */
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
