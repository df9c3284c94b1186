import type { Principal } from "../../../../shared/contract/principal.js";
import { namespacesCover } from "../../../../shared/namespace.js";
import { counted } from "../../../components/counted.js";
import type { App } from "../app.js";
import type { PackageFacts } from "./package-facts.js";

/** What the upload would do to what is installed; `app` is what there is under the name. */
export function effectOf({ name, version }: PackageFacts, app: App | undefined): string {
  if (!app) return `A new app at /${name}/`;
  const now = app.serving ? `${app.serving.version} answers now` : "none of it is on now";
  const isThere = app.versions.some((installed) => installed.version === version && installed.source === "uploaded");
  return isThere ? `Replaces ${version}, which is there; ${now}` : `Beside ${counted(app.versions.length, "version")}; ${now}`;
}

/** Why the key may not install it; undefined when it may. The daemon decides all the same. */
export function refusalOf({ name }: PackageFacts, principal: Principal): string | undefined {
  if (!principal.permissions.includes("workers:install"))
    return "This key may not install apps: that needs the permission workers:install.";
  if (namespacesCover(principal.namespaces, name)) return undefined;
  return `This key may install in ${principal.namespaces.join(", ")} only, and ${name} lies outside.`;
}
