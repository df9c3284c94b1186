import type { EventEmitter } from "node:events";
import type { ReadStream, WriteStream } from "node:tty";
import { connect } from "../client/connection.js";
import { writeAll } from "../output/process-io.js";

/** The stream from which the dashboard reads key presses. */
export type KeySource = NodeJS.ReadableStream & Pick<ReadStream, "setRawMode">;

/** The stream to which the dashboard writes its frames. Emits `resize` and `error`. */
export type DrawingSurface = Pick<WriteStream, "columns" | "rows"> &
  Pick<EventEmitter, "on" | "off"> & { readonly write: (text: string) => unknown };

/** The parts of the process that the dashboard uses. In tests, other objects replace these parts. */
export interface DashboardHost {
  readonly stdin: KeySource;
  readonly stdout: DrawingSurface;
  /** Emitter of the events `SIGTSTP`, `SIGWINCH`, `exit` and `uncaughtExceptionMonitor`. In the program, this is `process`. */
  readonly events: Pick<EventEmitter, "on" | "off">;
  /** Writes a text synchronously, so that the text is written even if the process exits immediately afterwards. */
  readonly writeNow: (text: string) => void;
  /**
   * Ends the process by SIGHUP after the terminal was closed. The kernel sends SIGHUP only to the session leader and to foreground
   * processes.
   */
  readonly onTerminalClosed: () => void;
  /** Stops the process group, as ctrl-z does, until the shell continues it. */
  readonly stop: () => void;
  readonly connect: typeof connect;
}

/** Returns the parts of the current process for `runtimectl tui`. */
export function processHost(): DashboardHost {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    events: process,
    writeNow: (text) => writeAll(1, text),
    onTerminalClosed: () => void process.kill(process.pid, "SIGHUP"),
    stop: () => void process.kill(0, "SIGTSTP"),
    connect,
  };
}
