import type { Log } from "../../log/log.js";
import type { Transaction } from "./transaction.js";

export interface Retiring {
  /** Called after a folder stopped being current: serve nothing new from it; what still runs reads from `movedTo` until the promise resolves. */
  readonly retire: (folder: string, movedTo: string | undefined) => Promise<void>;
  readonly log: Log;
}

/** Has what runs from a folder retired; never throws, since the change is done already. */
export async function retireFolder({ retire, log }: Retiring, folder: string, movedTo: string | undefined): Promise<void> {
  try {
    await retire(folder, movedTo);
  } catch (error) {
    log.error({ err: error, folder }, "what runs from a replaced folder could not be retired");
  }
}

/** Discards a change once nothing runs from the old folders any more; waits for that only when nothing does. */
export async function discardAfter(retiring: readonly Promise<void>[], staged: Transaction): Promise<void> {
  const cleaned = Promise.all(retiring).then(() => staged.discard());
  if (retiring.length === 0) await cleaned;
}
