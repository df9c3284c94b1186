import type { DashboardHost } from "../dashboard-host.js";

/**
 * Escape sequences for automatic line wrap (DECAWM). The dashboard disables it, so that a frame drawn during a resize is truncated instead
 * of wrapped.
 */
const wrapping = { off: "\u001b[?7l", on: "\u001b[?7h" };
/**
 * Escape sequences for the alternate screen. The screen is cleared on exit, because some terminals can show it again and it could contain
 * an API key.
 */
const alternateScreen = {
  enter: `\u001b[?1049h\u001b[?25l${wrapping.off}\u001b[H`,
  leave: `\u001b[2J${wrapping.on}\u001b[?25h\u001b[?1049l`,
};
/** Escape sequences for bracketed paste, in which the terminal marks the start and end of pasted text. */
const bracketedPaste = { on: "\u001b[?2004h", off: "\u001b[?2004l" };
/** Delay before the dashboard returns to full-screen mode after a suspend. The timer fires only after the shell continues the process. */
const stopMs = 50;

interface FullScreenOptions {
  readonly host: Pick<DashboardHost, "events" | "writeNow" | "stop">;
  /** Called after full-screen mode is entered, also when `fg` continues the dashboard after ctrl-z. */
  readonly onEnter: () => void;
  readonly onLeave: () => void;
  /** Whether the dashboard uses the alternate screen. False in screen reader mode, in which earlier lines stay visible. */
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
    // Restores the terminal at `uncaughtExceptionMonitor`, which Node.js emits before it prints an uncaught exception.
    events.on("uncaughtExceptionMonitor", this.#onEnd);
    this.#options.onEnter();
  }

  /** Leaves full-screen mode. Synchronous, so that exit handlers can call this method. */
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

  /** Suspends the dashboard (ctrl-z) until the shell continues it (`fg`). Without a job-control shell, has no effect. */
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
      // Ignores the error of a closed terminal, which needs no restoring.
    }
  }
}
