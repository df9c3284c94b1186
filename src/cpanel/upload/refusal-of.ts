import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover } from "../../shared/namespace.js";
import type { PackageInfo } from "./package-info.js";
import type { UploadTarget } from "./upload-target.js";

/**
 * Returns the reason why the key is not allowed to install the package. Undefined if the key is allowed to install it. The daemon checks
 * the same rule during the upload.
 */
export function refusalOf(
  { name }: PackageInfo,
  { noun, permission }: Pick<UploadTarget<never>, "noun" | "permission">,
  principal: Principal,
): string | undefined {
  if (!principal.permissions.includes(permission)) return `This key may not install ${noun}s: that needs the permission ${permission}.`;
  if (namespacesCover(principal.namespaces, name)) return undefined;
  return `This key may install in ${principal.namespaces.join(", ")} only, and ${name} lies outside.`;
}
