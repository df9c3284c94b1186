import type { DashboardHost } from "../dashboard-host.js";

/** No line goes on in the next one: a frame that is drawn while the window gets narrower is cut off, not folded. */
const wrapping = { off: "\u001b[?7l", on: "\u001b[?7h" };
/** Cleared before it is left: some terminals can show the alternate screen again, and a key may have been on it. */
const alternateScreen = {
  enter: `\u001b[?1049h\u001b[?25l${wrapping.off}\u001b[H`,
  leave: `\u001b[2J${wrapping.on}\u001b[?25h\u001b[?1049l`,
};
/** The terminal says where pasted text begins and ends. */
const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" };
/** How long after asking to be stopped we look whether we run (again); a stopped process has no timers. */
const stopMs = 50;

interface FullScreenOptions {
  readonly host: Pick<DashboardHost, "events" | "writeNow" | "stop">;
  /** Called when the screen is ours, empty. */
  readonly onEnter: () => void;
  readonly onLeave: () => void;
  /** Screen readers keep the lines that were there. */
  readonly usesAlternateScreen: boolean;
}

/** The terminal while the dashboard has it. Whatever ends the process, the terminal is as it was. */
export class FullScreen {
  readonly #options: FullScreenOptions;
  #isOurs = false;
  readonly #onSuspend = (): void => this.suspend();
  readonly #onEnd = (): void => this.leave();

  constructor(options: FullScreenOptions) {
    this.#options = options;
  }

  enter(): void {
    if (this.#isOurs) return;
    this.#isOurs = true;
    const { events } = this.#options.host;
    this.#write(`${this.#options.usesAlternateScreen ? alternateScreen.enter : ""}${bracketedPaste.on}`);
    events.on("SIGTSTP", this.#onSuspend);
    events.on("exit", this.#onEnd);
    // Before Node writes what nobody caught.
    events.on("uncaughtExceptionMonitor", this.#onEnd);
    this.#options.onEnter();
  }

  /** Gives the terminal back. Does not wait, so that it may be the last that a process does. */
  leave(): void {
    if (!this.#isOurs) return;
    this.#isOurs = false;
    const { events } = this.#options.host;
    this.#options.onLeave();
    events.off("SIGTSTP", this.#onSuspend);
    events.off("exit", this.#onEnd);
    events.off("uncaughtExceptionMonitor", this.#onEnd);
    this.#write(`${bracketedPaste.off}${this.#options.usesAlternateScreen ? alternateScreen.leave : ""}`);
  }

  /** Gives the terminal to the shell until it lets us go on (ctrl-z and fg). Where no shell waits for that, nothing happens. */
  suspend(): void {
    if (!this.#isOurs) return;
    this.leave();
    this.#options.host.stop();
    setTimeout(() => this.enter(), stopMs);
  }

  #write(text: string): void {
    try {
      this.#options.host.writeNow(text);
    } catch {
      // The terminal is gone; nothing is left to restore.
    }
  }
}
