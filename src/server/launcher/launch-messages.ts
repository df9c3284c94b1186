/** A process to start; the daemon tells its launcher over the channel between them. */
export interface LaunchOrder {
  /** Of the launch, in what either side says about it. */
  readonly id: number;
  readonly file: string;
  readonly args: readonly string[];
  readonly workingDirectory: string;
  /** Descriptors of the process that are to be sockets to the daemon; all others are closed, or lead nowhere. */
  readonly descriptors: readonly number[];
  /** Known to the two of them: what each of these sockets says first, before its descriptor. */
  readonly password: string;
}

/** Descriptors that every program knows. */
export const standard = { input: 0, output: 1, errors: 2 } as const;

/** Ends the process of a launch by force. */
export interface KillOrder {
  readonly kill: number;
}

export type LauncherOrder = LaunchOrder | KillOrder;

/** What became of a launch: it runs, could not be started, or has ended. */
export type LaunchReport =
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly failure: string }
  | { readonly id: number; readonly end: ProcessEnd };

/** How a process ended: by itself with a status, or by a signal. */
export interface ProcessEnd {
  readonly status: number | null;
  readonly signal: string | null;
}

/** Why a process was not started, or ended at once: most likely the daemon has too many files open. */
export const noSocket = "no socket to it could be opened";

/** Bytes of a password, which is hexadecimal. */
export const passwordBytes = 32;
/** A password, and one digit for the descriptor. */
export const greetingBytes = passwordBytes + 1;
