import type { Log } from "../observe/log.js";

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
