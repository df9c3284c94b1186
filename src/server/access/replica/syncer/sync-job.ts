/** First message to the syncer. It contains the token, which therefore does not appear in a list of processes. */
export interface SyncJob {
  readonly file: string;
  readonly url: string;
  readonly token: string | undefined;
}

/** Every message after the first one. */
export const syncNow = "sync";

/** Response to each message. */
export type SyncResponse = { readonly synced: true } | { readonly failed: string };
