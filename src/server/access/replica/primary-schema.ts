import { NewerStateError } from "../../config/newer-state-error.js";

/** Schema number of the primary's tables that this program creates and supports. */
export const primarySchemaVersion = 1;

/** Throws NewerStateError when the tables of the primary, or of a replica of it, have a higher schema. */
export function assertSupportedPrimary(subject: string, found: number): void {
  if (found <= primarySchemaVersion) return;
  throw new NewerStateError({
    subject,
    found,
    supported: primarySchemaVersion,
    remedy: "restore an older backup of the primary and delete the folder replica in the state directory of each daemon",
  });
}
