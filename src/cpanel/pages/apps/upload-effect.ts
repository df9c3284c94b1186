import { latestVersion } from "../../../shared/package-name.js";
import { pluralize } from "../../components/pluralize.js";
import type { PackageInfo } from "../../upload/package-info.js";
import type { App } from "./app.js";

/** Returns a text that describes the effect of an upload. `app` is the installed app with the same name. */
export function effectOf({ name, version }: PackageInfo, app: App | undefined): string {
  if (!app) return `A new app at /${name}/`;
  const now = app.serving ? `${app.serving.version} is active` : "no version is enabled";
  const isThere = app.versions.some((installed) => installed.version === version && installed.source === "uploaded");
  return isThere
    ? `Replaces the installed version ${version}; ${now}`
    : `Beside ${pluralize(app.versions.length, "installed version")}; ${now}`;
}

/** Returns notes about a package, which are shown before the upload. */
export function notesOf({ entrypoint, version, isEnabled, isPlugin }: PackageInfo): string[] {
  return [
    ...(isPlugin ? ["The manifest is that of a plugin. Upload it on the page Plugins."] : []),
    ...(entrypoint === undefined && !isPlugin ? ["The package has nothing to serve: no index.html, index.js or entrypoint."] : []),
    ...(version === latestVersion
      ? ["The package has no version: it is installed as latest, which is active before all other versions."]
      : []),
    ...(isEnabled ? [] : ["The manifest has enabled: false, so the version is installed disabled."]),
  ];
}
