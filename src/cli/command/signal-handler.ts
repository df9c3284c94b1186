import { CommandError } from "./command-error.js";
import { exitCodes } from "./exit-codes.js";

/** How long a command may take to come to an end after a signal before the process ends anyway. */
const gracePeriodMs = 2000;

/**
 * Turns SIGINT and SIGTERM of this process into an abort that the running command ends by; a second signal, or 2 s, ends the process.
 * SIGHUP ends the process at once, because its terminal is gone.
 */
export class SignalHandler {
  readonly #controller = new AbortController();
  readonly #cleanUps = new CleanUps();

  constructor() {
    process.on("SIGINT", () => this.#interrupt("interrupted", exitCodes.interrupted));
    process.on("SIGTERM", () => this.#interrupt("terminated", exitCodes.terminated));
    process.on("SIGHUP", () => this.#onTerminalClosed());
  }

  /** Aborts with a CommandError. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Registers what must happen when the process ends without waiting for the command. */
  get onExit(): (cleanUp: () => void) => void {
    return this.#cleanUps.add;
  }

  #interrupt(word: string, exitCode: 130 | 143): void {
    if (this.signal.aborted) this.#end(exitCode);
    setTimeout(() => this.#end(exitCode), gracePeriodMs).unref();
    this.#controller.abort(new CommandError(word.toUpperCase(), word, { exitCode }));
  }

  /** Dies of the signal itself: on its own way out Node resets the terminal, and aborts when that is gone. */
  #onTerminalClosed(): void {
    this.#cleanUps.run();
    // Ink listens, too.
    process.removeAllListeners("SIGHUP");
    process.kill(process.pid, "SIGHUP");
  }

  #end(exitCode: number): never {
    this.#cleanUps.run();
    process.exit(exitCode);
  }
}

/** What must happen before a command is over, in any case, such as deleting its temporary files. */
export class CleanUps {
  readonly #pending: (() => void)[] = [];

  /** Registers a clean-up; it must not wait. */
  readonly add = (cleanUp: () => void): void => {
    this.#pending.push(cleanUp);
  };

  /** Runs each clean-up once, the newest first. */
  run(): void {
    for (const cleanUp of this.#pending.splice(0).toReversed()) cleanUp();
  }
}
