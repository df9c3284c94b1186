/** First message to the syncer. Contains the token, so that no list of processes shows it. */
export interface SyncJob {
  readonly file: string;
  readonly url: string;
  readonly token: string | undefined;
}

/** Each further message. */
export const syncNow = "sync";

/** Response to each message. */
export type SyncResponse = { readonly synced: true } | { readonly failed: string };
