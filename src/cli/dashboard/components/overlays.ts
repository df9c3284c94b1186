import type { ActionId } from "../keyboard/keymap.js";
import type { OneTimeSecret } from "../keys/one-time-secret.js";

const toastMs = 8000;

/** A question that takes the place of the screen's body until it is answered. */
export interface Question {
  /** What would happen, with its consequence in numbers. */
  readonly consequence: string;
  /** What a person types to agree; none: `y`. */
  readonly name?: string | undefined;
  /** Says why the name is wanted: the profile is a production one. */
  readonly isProduction?: boolean;
}

/** A line to type for something that is then done. */
export interface Prompt {
  readonly label: string;
  readonly initial: string;
  readonly hint: string;
  /** `tab` completes paths of this machine. */
  readonly completesFiles?: boolean;
  readonly onSubmit: (text: string) => void;
}

/** Bytes on their way, to the daemon or from it. */
export interface Transfer {
  readonly label: string;
  readonly totalBytes?: number | undefined;
  /** Ends soon after the signal aborts; says what was done. */
  readonly run: (onBytes: (count: number) => void, signal: AbortSignal) => Promise<string>;
  /** What it means that it was cancelled when so many bytes were on their way. */
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

/** What lies over the screen: at most one overlay, and one line that says what just happened. */
export class Overlays {
  readonly #listeners = new Set<() => void>();
  #state: OverlayState = { overlay: undefined, toast: undefined };
  #timer: NodeJS.Timeout | undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): OverlayState => this.#state;

  /** Takes the place of the overlay before, unless that shows a key, which would be lost. */
  show(overlay: Overlay): void {
    if (this.#state.overlay?.kind === "reveal") return;
    this.#set({ ...this.#state, overlay });
  }

  close(): void {
    if (this.#state.overlay?.kind === "reveal") this.#state.overlay.secret.forget();
    this.#set({ ...this.#state, overlay: undefined });
  }

  /** Asks, and closes with the answer. */
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
