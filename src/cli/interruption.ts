import { CommandError } from "./command-error.js";
import { exitCodes } from "./exit-codes.js";

/** How long a command may take to come to an end after a signal before the process ends anyway. */
const windDownTimeoutMs = 2000;

/**
 * Turns SIGINT and SIGTERM into an abort that the running command ends by; a second signal, or 2 s, ends the process. SIGHUP ends it at
 * once: nobody is left to read what it would say.
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #cleanUps: (() => void)[] = [];
  readonly #onInterrupt = (): void => this.#interrupt("interrupted", exitCodes.interrupted);
  readonly #onTerminate = (): void => this.#interrupt("terminated", exitCodes.terminated);
  readonly #onHangUp = (): void => this.#hangUp();

  constructor() {
    process.on("SIGINT", this.#onInterrupt);
    process.on("SIGTERM", this.#onTerminate);
    process.on("SIGHUP", this.#onHangUp);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Registers what must happen before the process ends, in any case; it must not wait. What came last goes first. */
  onExit(cleanUp: () => void): void {
    this.#cleanUps.push(cleanUp);
  }

  /** Runs what was registered and gives the signals back. */
  finish(): void {
    for (const cleanUp of this.#cleanUps.splice(0).toReversed()) cleanUp();
    process.off("SIGINT", this.#onInterrupt);
    process.off("SIGTERM", this.#onTerminate);
    process.off("SIGHUP", this.#onHangUp);
  }

  #interrupt(word: string, exitCode: 130 | 143): void {
    if (this.signal.aborted) this.#end(exitCode);
    setTimeout(() => this.#end(exitCode), windDownTimeoutMs).unref();
    this.#controller.abort(new CommandError(word.toUpperCase(), word, { exitCode }));
  }

  /** Dies of the signal itself: on its own way out Node resets the terminal, and aborts when that is gone. */
  #hangUp(): void {
    this.finish();
    // Ink listens, too.
    process.removeAllListeners("SIGHUP");
    process.kill(process.pid, "SIGHUP");
  }

  #end(exitCode: number): never {
    this.finish();
    process.exit(exitCode);
  }
}
