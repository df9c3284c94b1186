import { ApiError } from "../../../shared/api-error.js";

type ListedInstances = readonly { readonly name: string; readonly problem?: string | undefined }[];

/** Returns a text with the daemons that sent no entries, and the reasons. The text is empty if all daemons sent entries. */
export function missingEntriesText(instances: ListedInstances = []): string {
  return instances.flatMap(({ name, problem }) => (problem === undefined ? [] : [`Entries of ${name} are missing. ${problem}`])).join(" ");
}

/** Throws INSTANCE_UNAVAILABLE if at least one daemon sent no entries. */
export function assertNoneMissing(instances: ListedInstances | undefined): void {
  const text = missingEntriesText(instances);
  if (text !== "") throw new ApiError("INSTANCE_UNAVAILABLE", text);
}
