import { latestVersion } from "../../../shared/package-name.js";
import { pluralize } from "../../components/pluralize.js";
import type { PackageInfo } from "../../upload/package-info.js";
import type { App } from "./app.js";

/** Describes the effect of the upload; `app` is the installed app of that name. */
export function effectOf({ name, version }: PackageInfo, app: App | undefined): string {
  if (!app) return `A new app at /${name}/`;
  const now = app.serving ? `${app.serving.version} answers now` : "none of it is on now";
  const isThere = app.versions.some((installed) => installed.version === version && installed.source === "uploaded");
  return isThere ? `Replaces ${version}, which is there; ${now}` : `Beside ${pluralize(app.versions.length, "version")}; ${now}`;
}

/** Returns the notes before an upload. */
export function notesOf({ entrypoint, version, isEnabled, isPlugin }: PackageInfo): string[] {
  return [
    ...(isPlugin ? ["Its manifest is that of a plugin: those are uploaded in Plugins."] : []),
    ...(entrypoint === undefined && !isPlugin ? ["Nothing in it can be served: no index.html, index.js or entrypoint."] : []),
    ...(version === latestVersion ? ["No version is declared: it becomes latest, and answers before all others."] : []),
    ...(isEnabled ? [] : ["Its manifest says enabled: false: it is installed, and off."]),
  ];
}
