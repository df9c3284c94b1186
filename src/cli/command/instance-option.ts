import type { Output } from "../output/output.js";
import type { OptionDefinition } from "./command.js";

/** The flag `--instance`. Commands with this flag read data of all daemons with the same primary, such as log entries and metrics. */
export const instanceOption: OptionDefinition = {
  flags: "--instance <name>",
  description: "Only the daemon with this name or id, or self: the one that responds (default: all)",
};

/** Returns whether the output can contain data of several daemons. `instance` is the value of the option. */
export function hasSeveralInstances(instance: string | undefined): boolean {
  return instance === undefined || instance === "all";
}

/** Warns of each daemon whose values are missing in a result. `values` is a plural noun, such as `metrics`. */
export function warnOfMissing(
  output: Pick<Output, "warn">,
  values: string,
  instances: readonly { readonly name: string; readonly problem?: string | undefined }[] | undefined,
): void {
  for (const { name, problem } of instances ?? []) if (problem !== undefined) output.warn(`${values} of ${name} are missing: ${problem}`);
}
