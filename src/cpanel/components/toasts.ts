import { Observable } from "../live/observable.js";

/** Time in milliseconds for which the panel shows a message. The panel shows a message with a button for twice this time. */
const shownMs = 6000;
const mostShown = 3;

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "danger";
  /** Subject of the message, such as a package name. A newer message with the same subject replaces this message. */
  readonly subject?: string | undefined;
  /** Button that reverts the completed action, with a label such as `Undo`. */
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

/** Short messages about the user's actions. The panel shows at most 3 messages. A fourth message removes the oldest. */
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

  /** Removes the messages about a subject. The caller runs this method when a new action on the same subject starts. */
  dismissAbout(subject: string): void {
    this.shown.set(this.shown.get().filter((toast) => toast.subject !== subject));
  }

  dismiss(id: number): void {
    this.shown.set(this.shown.get().filter((toast) => toast.id !== id));
  }
}
