/** A process to start; the daemon tells its spawner over the channel between them. */
export interface SpawnOrder {
  /** Of the spawn: hexadecimal, and known to the two of them alone. Each of its sockets says it first, and then its descriptor. */
  readonly id: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly workingDirectory: string;
  /** Descriptors of the process that are to be sockets to the daemon; all others are closed, or lead nowhere. */
  readonly descriptors: readonly number[];
}

/** Descriptors that every program knows. */
export const standard = { input: 0, output: 1, errors: 2 } as const;

/** Ends the process of a spawn by force. */
export interface KillOrder {
  readonly kill: string;
}

export type SpawnerOrder = SpawnOrder | KillOrder;

/** What became of a spawn: it runs, could not be started, or has ended. */
export type SpawnReport =
  | { readonly id: string; readonly pid: number }
  | { readonly id: string; readonly failure: string }
  | { readonly id: string; readonly end: ProcessEnd };

/** How a process ended: by itself with a status, or by a signal. */
export interface ProcessEnd {
  readonly status: number | null;
  readonly signal: string | null;
}

/** Why a process was not started, or ended at once: most likely the daemon has too many files open. */
const noSocket = "no socket to it could be opened";

/** A spawn failed because its sockets did not arrive. `code` is that of a daemon that may open no more files. */
export class NoSpawnSocket extends Error {
  readonly code = "EMFILE";

  constructor(options?: ErrorOptions) {
    super(noSocket, options);
  }

  /** The error for a failure that the spawner reports in words. */
  static orOther(failure: string): Error {
    return failure === noSocket ? new NoSpawnSocket() : new Error(failure);
  }
}

/** Digits of an id. */
export const idLength = 32;
/** An id, and one digit for the descriptor. */
export const greetingBytes = idLength + 1;
