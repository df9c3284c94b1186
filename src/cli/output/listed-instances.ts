import type { Output } from "./output.js";

/** The daemons of a list, with the reason why the entries of a daemon are missing. */
type ListedInstances = readonly { readonly name: string; readonly problem?: string | undefined }[];

/** Option that selects one of the daemons with the same primary. */
export const instanceOption = {
  flags: "--instance <name>",
  description: "Only entries of the daemon with this name or id, or self (default all)",
} as const;

/** Returns whether entries of several daemons can occur in the output. `instance` is the value of the option. */
export function hasSeveralInstances(instance: string | undefined): boolean {
  return instance === undefined || instance === "all";
}

/** Prints a warning for each daemon whose entries are missing. */
export function warnOfMissingEntries(output: Pick<Output, "warn">, instances: ListedInstances = []): void {
  for (const { name, problem } of instances) if (problem !== undefined) output.warn(`entries of ${name} are missing: ${problem}`);
}
