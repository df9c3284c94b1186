import type { DashboardHost } from "../dashboard-host.js";

/**
 * Escape sequences for automatic line wrap (DECAWM). The dashboard disables line wrap, so that a resize truncates the lines of a frame
 * instead of wrapping them.
 */
const wrapping = { off: "\u001b[?7l", on: "\u001b[?7h" };
/**
 * Escape sequences for the alternate screen. On exit, the dashboard clears this screen: some terminals can show it again, and it could
 * contain an API key.
 */
const alternateScreen = {
  enter: `\u001b[?1049h\u001b[?25l${wrapping.off}\u001b[H`,
  leave: `\u001b[2J${wrapping.on}\u001b[?25h\u001b[?1049l`,
};
/** Escape sequences for bracketed paste, in which the terminal marks the start and end of pasted text. */
const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" };
/**
 * Delay after which the dashboard returns to full-screen mode. The process is stopped in the meantime, so the timer fires only after the
 * shell continues the process.
 */
const stopMs = 50;

interface FullScreenOptions {
  readonly host: Pick<DashboardHost, "events" | "writeNow" | "stop">;
  /** Callback that runs when full-screen mode starts, also after `fg` continues a dashboard that ctrl-z stopped. */
  readonly onEnter: () => void;
  readonly onLeave: () => void;
  /** Whether the dashboard draws on the alternate screen. False in screen reader mode, because earlier lines must stay visible. */
  readonly usesAlternateScreen: boolean;
}

/** Enters and leaves full-screen mode. Restores the terminal before every exit of the process. */
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
    // Restores the terminal at the event `uncaughtExceptionMonitor`, because Node.js prints an uncaught exception after this event.
    events.on("uncaughtExceptionMonitor", this.#onEnd);
    this.#options.onEnter();
  }

  /** Leaves full-screen mode. Synchronous, because exit handlers call this method. */
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

  /**
   * Suspends the dashboard (ctrl-z) until the shell continues it (`fg`). Has no effect if no shell with job control started the dashboard.
   */
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
      // Ignores the error, because a closed terminal needs no restoring.
    }
  }
}
