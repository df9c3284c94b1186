import { CommandError } from "./command-error.js";
import { exitCodes } from "./exit-codes.js";

/** Time between a signal and the forced exit of the process. Within this time, the command can stop by itself and clean up. */
const gracePeriodMs = 2000;

/**
 * Aborts the running command on SIGINT and SIGTERM. The process exits after 2 s or on a second signal. On SIGHUP, the process exits
 * immediately, because its terminal is closed.
 */
export class SignalHandler {
  readonly #controller = new AbortController();
  readonly #cleanUps = new CleanUps();

  constructor() {
    process.on("SIGINT", () => this.#interrupt("interrupted", exitCodes.interrupted));
    process.on("SIGTERM", () => this.#interrupt("terminated", exitCodes.terminated));
    process.on("SIGHUP", () => this.#onTerminalClosed());
  }

  /** Aborts on SIGINT and SIGTERM. The reason is a CommandError with the exit code. */
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

  /** Ends the process by SIGHUP. With a normal exit, Node.js would reset the closed terminal and abort. */
  #onTerminalClosed(): void {
    this.#cleanUps.run();
    // Removes the SIGHUP listeners of this program and of Ink, because SIGHUP ends a process only without listeners.
    process.removeAllListeners("SIGHUP");
    process.kill(process.pid, "SIGHUP");
  }

  #end(exitCode: number): never {
    this.#cleanUps.run();
    process.exit(exitCode);
  }
}

/** Clean-up functions that always run at the end of a command, for example to delete temporary files. */
export class CleanUps {
  readonly #pending: (() => void)[] = [];

  /** Registers a synchronous clean-up function. */
  readonly add = (cleanUp: () => void): void => {
    this.#pending.push(cleanUp);
  };

  /** Runs each clean-up function once, the last registered first. */
  run(): void {
    for (const cleanUp of this.#pending.splice(0).toReversed()) cleanUp();
  }
}
