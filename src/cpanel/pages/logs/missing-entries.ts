import { ApiError } from "../../../shared/api-error.js";

type ListedInstances = readonly { readonly name: string; readonly problem?: string | undefined }[];

/** Returns which daemons gave no entries, and why. Returns an empty text if none is missing. */
export function missingEntriesText(instances: ListedInstances = []): string {
  return instances.flatMap(({ name, problem }) => (problem === undefined ? [] : [`Entries of ${name} are missing. ${problem}`])).join(" ");
}

/** Throws INSTANCE_UNAVAILABLE if a daemon gave no entries. */
export function assertNoneMissing(instances: ListedInstances | undefined): void {
  const text = missingEntriesText(instances);
  if (text !== "") throw new ApiError("INSTANCE_UNAVAILABLE", text);
}
