import { Observable } from "../live/observable.js";

/** How long a message is shown. A message with an action is shown twice as long. */
const shownMs = 6000;
const mostShown = 3;

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "danger";
  /** The thing that the message is about, such as a package name. A newer message about the same thing replaces this one. */
  readonly subject?: string | undefined;
  /** A button that reverts the action, such as Undo. */
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

/** Short messages about completed actions. Errors are shown where the action was started. */
export class Toasts {
  readonly shown = new Observable<readonly Toast[]>([]);
  #count = 0;

  say(text: string, { tone = "plain", subject, action }: Partial<Pick<Toast, "tone" | "subject" | "action">> = {}): void {
    this.#count += 1;
    const toast: Toast = { id: this.#count, text, tone, subject, action };
    if (subject !== undefined) this.dismissAbout(subject);
    this.shown.set([...this.shown.get(), toast].slice(-mostShown));
    setTimeout(() => this.dismiss(toast.id), action ? shownMs * 2 : shownMs);
  }

  /** Removes the messages about a thing, since an action on it has started again. */
  dismissAbout(subject: string): void {
    this.shown.set(this.shown.get().filter((toast) => toast.subject !== subject));
  }

  dismiss(id: number): void {
    this.shown.set(this.shown.get().filter((toast) => toast.id !== id));
  }
}
