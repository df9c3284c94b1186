/** What the process that syncs is told first; the token goes this way so that nobody sees it in a list of processes. */
export interface SyncJob {
  readonly file: string;
  readonly url: string;
  readonly token: string | undefined;
}

/** What it is told next, each time. */
export const syncNow = "sync";

/** What it answers each time. */
export type SyncResponse = { readonly synced: true } | { readonly failed: string };
