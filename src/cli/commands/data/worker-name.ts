import { isPackageName, toPathSegments } from "../../../shared/package-name.js";
import { usageError } from "../../command/command-error.js";

export const nameArgument = { syntax: "<name>", description: "The worker, such as @team/shop" };

/** Returns the path parameters for a worker name. Throws a usage error if the text is not a valid worker name. */
export function parseWorkerName(text: string): { scope: string; name: string } {
  if (!isPackageName(text)) throw usageError(`${JSON.stringify(text)} is not the name of a worker`, "use a name such as @team/shop");
  return toPathSegments(text);
}
