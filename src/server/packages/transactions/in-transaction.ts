import type { Transaction } from "./transaction.js";
import type { StagingArea } from "./staging-area.js";
import { asStorageFailure } from "../../platform/storage-full.js";

/** Runs a change in a staged folder, which is deleted when the change fails; a full disk is told as such. */
export async function inTransaction<Result>(area: StagingArea, change: (staged: Transaction) => Promise<Result>): Promise<Result> {
  let staged: Transaction | undefined;
  try {
    staged = await area.begin();
    return await change(staged);
  } catch (error) {
    await staged?.discard();
    throw asStorageFailure(error);
  }
}
