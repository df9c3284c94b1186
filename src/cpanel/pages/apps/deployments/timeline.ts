import type { InstalledVersion } from "../../../../shared/worker-versions.js";
import type { App } from "../app.js";

/** Returns when a version was installed, in Unix seconds: as the daemon recorded it, or as `runtimectl deploy` wrote it into the manifest. */
export function installedAt(app: App, { version, installation, source }: InstalledVersion): number | undefined {
  return source === "uploaded" ? (installation?.at ?? app.deploys[version]?.at) : undefined;
}

/**
 * Returns the versions of an app, the latest installation first. Versions without a known installation time follow, highest version first.
 */
export function timelineOf(app: App): readonly InstalledVersion[] {
  return app.versions.toSorted((one, other) => (installedAt(app, other) ?? 0) - (installedAt(app, one) ?? 0));
}
