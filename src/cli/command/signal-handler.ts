import { CommandError } from "./command-error.js";
import { exitCodes } from "./exit-codes.js";

/** Time between a signal and the forced exit of the process. During this time, the command can end normally and clean up. */
const gracePeriodMs = 2000;

/**
 * Aborts the running command on SIGINT and SIGTERM. The process exits after 2 s or on a second signal. On SIGHUP, the process ends
 * immediately, because the terminal is closed.
 */
export class SignalHandler {
  readonly #controller = new AbortController();
  readonly #cleanUps = new CleanUps();

  constructor() {
    process.on("SIGINT", () => this.#interrupt("interrupted", exitCodes.interrupted));
    process.on("SIGTERM", () => this.#interrupt("terminated", exitCodes.terminated));
    process.on("SIGHUP", () => this.#onTerminalClosed());
  }

  /** Aborts on SIGINT and SIGTERM. The reason of the signal is a CommandError that contains the exit code. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Registers a clean-up function. The function runs if the process exits before the command ends. */
  get onExit(): (cleanUp: () => void) => void {
    return this.#cleanUps.add;
  }

  #interrupt(word: string, exitCode: 130 | 143): void {
    if (this.signal.aborted) this.#end(exitCode);
    setTimeout(() => this.#end(exitCode), gracePeriodMs).unref();
    this.#controller.abort(new CommandError(word.toUpperCase(), word, { exitCode }));
  }

  /**
   * Ends the process by SIGHUP. A normal exit would fail: at exit, Node.js resets the terminal, and aborts because the terminal is closed.
   */
  #onTerminalClosed(): void {
    this.#cleanUps.run();
    // Removes the SIGHUP listeners of runtimectl and of Ink, because SIGHUP does not end a process that has a listener.
    process.removeAllListeners("SIGHUP");
    process.kill(process.pid, "SIGHUP");
  }

  #end(exitCode: number): never {
    this.#cleanUps.run();
    process.exit(exitCode);
  }
}

/** Clean-up functions that run at the end of each command, also after an error. Example: deleting temporary files. */
export class CleanUps {
  readonly #pending: (() => void)[] = [];

  /** Registers a synchronous clean-up function. */
  readonly add = (cleanUp: () => void): void => {
    this.#pending.push(cleanUp);
  };

  /** Calls each clean-up function once. The function that was registered last runs first. */
  run(): void {
    for (const cleanUp of this.#pending.splice(0).toReversed()) cleanUp();
  }
}
