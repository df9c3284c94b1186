import { ApiError } from "../../shared/api-error.js";

/** Refuses a package whose name the router needs itself: 400 INVALID_PACKAGE_NAME. */
export function refuseReservedName(name: string, reservedNames: ReadonlySet<string>): void {
  if (!reservedNames.has(name)) return;
  throw new ApiError("INVALID_PACKAGE_NAME", `The name ${name} is taken by the runtime itself. Give the package another name.`);
}
