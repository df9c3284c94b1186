/**
 * First message of the daemon to the syncer, which responds with `started`. The message contains the token, because process lists would show
 * the token in an argument.
 */
export interface SyncJob {
  readonly file: string;
  readonly url: string;
  readonly token: string | undefined;
}

/** Message that requests a sync. Every message after the first message is of this kind. */
export const syncNow = "sync";

/** Response of the syncer process to the first message, when it can sync. */
export interface SyncerStarted {
  readonly started: true;
}

/** Response of the syncer process to each message `sync`. */
export type SyncResponse = { readonly synced: true } | { readonly failed: string };
