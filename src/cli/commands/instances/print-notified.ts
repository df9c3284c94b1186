import type { Notified } from "../../../shared/contract/instances.js";
import type { Context } from "../../command/command.js";
import { pluralize } from "../../output/format.js";

/**
 * Prints the number of other daemons that were notified of the change. If only this daemon made the change, prints a warning with the
 * reason. `instances` is undefined without a primary.
 */
export function printNotified({ output }: Context, instances: Notified | undefined): void {
  if (instances?.problem !== undefined) output.warn(`only this daemon has done it. ${instances.problem}`);
  else if (instances) output.note(`${pluralize(instances.notified, "other daemon")} notified`);
}
