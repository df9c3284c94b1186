/** Order to start a process. The daemon sends this message to the spawner over the IPC channel. */
export interface SpawnOrder {
  /**
   * Secret id of the process to start, in hexadecimal digits. The process sends this id and the number of the descriptor first on each of
   * its sockets.
   */
  readonly id: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly workingDirectory: string;
  /** File descriptors of the process that become sockets to the daemon. The other standard descriptors lead to /dev/null. */
  readonly descriptors: readonly number[];
}

/** File descriptor numbers of stdin, stdout and stderr. */
export const standard = { input: 0, output: 1, errors: 2 } as const;

/** Order to kill a process. Contains the id from the order that started the process. */
export interface KillOrder {
  readonly kill: string;
}

export type SpawnerOrder = SpawnOrder | KillOrder;

/** Report of the spawner about a process: started, failed to start, or ended. */
export type SpawnReport =
  | { readonly id: string; readonly pid: number }
  | { readonly id: string; readonly failure: string }
  | { readonly id: string; readonly end: ProcessEnd };

/** Exit status of an ended process, or the signal that killed it. */
export interface ProcessEnd {
  readonly status: number | null;
  readonly signal: string | null;
}

/** Error text of a failed start. The most likely cause is that the daemon has no free file descriptor. */
const noSocket = "no socket to the process could be opened";

/**
 * Thrown if a process cannot be started because its sockets did not arrive at the daemon. `code` is the error code for too many open files.
 */
export class NoSpawnSocket extends Error {
  readonly code = "EMFILE";

  constructor(options?: ErrorOptions) {
    super(noSocket, options);
  }

  /** Converts the error text from the spawner to an error. */
  static orOther(failure: string): Error {
    return failure === noSocket ? new NoSpawnSocket() : new Error(failure);
  }
}

/** Length of a process's id in hexadecimal digits. */
export const idLength = 32;
/** Length of the first data on a socket: the id and one digit for the descriptor number. */
export const greetingBytes = idLength + 1;
