/** An order to start a process; the daemon sends it over the spawner's IPC channel. */
export interface SpawnOrder {
  /** Hexadecimal secret of this spawn. Each socket of the process first sends this id and its descriptor number. */
  readonly id: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly workingDirectory: string;
  /** Descriptors of the process that become sockets to the daemon; all others are closed or ignored. */
  readonly descriptors: readonly number[];
}

/** The standard descriptors. */
export const standard = { input: 0, output: 1, errors: 2 } as const;

/** An order to kill a process. */
export interface KillOrder {
  readonly kill: string;
}

export type SpawnerOrder = SpawnOrder | KillOrder;

/** The state of a spawn: started, failed, or ended. */
export type SpawnReport =
  | { readonly id: string; readonly pid: number }
  | { readonly id: string; readonly failure: string }
  | { readonly id: string; readonly end: ProcessEnd };

/** The end of a process: an exit status, or a signal. */
export interface ProcessEnd {
  readonly status: number | null;
  readonly signal: string | null;
}

/** Most likely cause: the daemon has no free file descriptor. */
const noSocket = "no socket to the process could be opened";

/** A spawn failed because its sockets did not arrive. `code` is that of a process with too many open files. */
export class NoSpawnSocket extends Error {
  readonly code = "EMFILE";

  constructor(options?: ErrorOptions) {
    super(noSocket, options);
  }

  /** Converts the failure text of the spawner to an error. */
  static orOther(failure: string): Error {
    return failure === noSocket ? new NoSpawnSocket() : new Error(failure);
  }
}

/** Length of an id in hexadecimal digits. */
export const idLength = 32;
/** Length of the first data on a socket: the id and one digit for the descriptor. */
export const greetingBytes = idLength + 1;
