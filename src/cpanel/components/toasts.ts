import { Observable } from "../live/observable.js";

/** How long a message stays; longer ones are read longer. */
const shownMs = 6000;
const mostShown = 3;

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "danger";
  /** A way back, such as Undo. */
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

/** Short messages about what was done; what went wrong stays where it was tried. */
export class Toasts {
  readonly shown = new Observable<readonly Toast[]>([]);
  #count = 0;

  say(text: string, options: { tone?: Toast["tone"]; action?: Toast["action"] } = {}): void {
    this.#count += 1;
    const toast: Toast = { id: this.#count, text, tone: options.tone ?? "plain", action: options.action };
    this.shown.set([...this.shown.get(), toast].slice(-mostShown));
    setTimeout(() => this.dismiss(toast.id), options.action ? shownMs * 2 : shownMs);
  }

  dismiss(id: number): void {
    this.shown.set(this.shown.get().filter((toast) => toast.id !== id));
  }
}
