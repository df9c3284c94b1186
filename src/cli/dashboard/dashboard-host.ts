import type { EventEmitter } from "node:events";
import type { ReadStream, WriteStream } from "node:tty";
import { connect } from "../client/connection.js";
import { writeAll } from "../output/process-io.js";

/** Where the dashboard reads keys from. */
export type KeySource = NodeJS.ReadableStream & Pick<ReadStream, "setRawMode">;

/** Where the dashboard draws. Emits `resize` and `error`. */
export type DrawingSurface = Pick<WriteStream, "columns" | "rows"> &
  Pick<EventEmitter, "on" | "off"> & { readonly write: (text: string) => unknown };

/** The process, its terminal and its connection, as far as the dashboard uses them. Tests pass their own. */
export interface DashboardHost {
  readonly stdin: KeySource;
  readonly stdout: DrawingSurface;
  /** Emits `SIGTSTP`, `SIGWINCH`, `exit` and `uncaughtExceptionMonitor`, as `process` does. */
  readonly events: Pick<EventEmitter, "on" | "off">;
  /** Writes to the terminal before it returns: the process may end right after. */
  readonly writeNow: (text: string) => void;
  /** Ends the process because its terminal is gone, as the system does by SIGHUP unless another process receives the signal. */
  readonly onTerminalClosed: () => void;
  /** Stops the processes of this terminal until the shell continues them. */
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
