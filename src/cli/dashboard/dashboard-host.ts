import type { EventEmitter } from "node:events";
import type { ReadStream, WriteStream } from "node:tty";
import { connect } from "../client/connection.js";
import { writeAll } from "../output/process-io.js";

/** The input of the dashboard. */
export type KeySource = NodeJS.ReadableStream & Pick<ReadStream, "setRawMode">;

/** The output of the dashboard. Emits `resize` and `error`. */
export type DrawingSurface = Pick<WriteStream, "columns" | "rows"> &
  Pick<EventEmitter, "on" | "off"> & { readonly write: (text: string) => unknown };

/** The parts of the process that the dashboard uses. Tests pass their own. */
export interface DashboardHost {
  readonly stdin: KeySource;
  readonly stdout: DrawingSurface;
  /** Emits `SIGTSTP`, `SIGWINCH`, `exit` and `uncaughtExceptionMonitor`, as `process` does. */
  readonly events: Pick<EventEmitter, "on" | "off">;
  /** Writes synchronously: the process can exit immediately after the call. */
  readonly writeNow: (text: string) => void;
  /** Ends the process by SIGHUP after its terminal was closed. The kernel signals only the session leader and the foreground processes. */
  readonly onTerminalClosed: () => void;
  /** Stops the process group until the shell continues it. */
  readonly stop: () => void;
  readonly connect: typeof connect;
}

/** The host of a running `runtimectl tui`. */
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
