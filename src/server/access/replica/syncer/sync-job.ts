/** First message to the syncer process. The message contains the token, so that no process list shows the token. */
export interface SyncJob {
  readonly file: string;
  readonly url: string;
  readonly token: string | undefined;
}

/** Message that requests a sync: every message after the first one. */
export const syncNow = "sync";

/** Response of the syncer process to each message `sync`. */
export type SyncResponse = { readonly synced: true } | { readonly failed: string };
