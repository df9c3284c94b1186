import { ApiError } from "../../../shared/api-error.js";
import * as plugins from "../../../shared/contract/plugins.js";
import { list } from "../../../shared/contract/workers.js";
import { isPackageName, isPackageVersion } from "../../../shared/package-name.js";
import { toInstalledWorker } from "../../../shared/worker-versions.js";
import { connect } from "../../client/connection.js";
import type { Context } from "../../command/command.js";
import { pluginState, reportLoadFailure } from "../plugins/plugin-state.js";
import { reportServed } from "../workers/report-served.js";
import type { SurfaceOptions } from "./chosen-files.js";

interface ChangedPackage {
  readonly name: string;
  /** Version of the worker whose files changed. Undefined for a plugin. */
  readonly version: string | undefined;
}

/**
 * Prints for each package with changed files whether the daemon still serves the package. Prints nothing if the key cannot list packages.
 */
export async function reportChanged(context: Context, paths: readonly string[], options: SurfaceOptions): Promise<void> {
  try {
    for (const changed of changedPackages(paths, options)) await reportPackage(context, changed);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "PERMISSION_DENIED")) throw error;
  }
}

async function reportPackage(context: Context, { name, version }: ChangedPackage): Promise<void> {
  if (version === undefined) {
    reportLoadFailure(context, `${name} is changed`, await pluginState(await connect(context, { plugins: { list: plugins.list } }), name));
    return;
  }
  const connection = await connect(context, { workers: { list } });
  const rows = (await connection.client.workers.list()).filter((worker) => worker.name === name);
  const installed = toInstalledWorker(name, rows).versions.find((one) => one.version === version);
  if (installed?.enabled) await reportServed(context, connection, { name, version });
  else if (installed) context.output.note(`${name}@${version} is disabled`);
}

/** Returns the packages to which paths such as `workers/@team/app/1.0.0/index.js` belong. Lists each package only once. */
function changedPackages(paths: readonly string[], { plugins: isPlugin = false }: SurfaceOptions): readonly ChangedPackage[] {
  const found = new Map<string, ChangedPackage>();
  for (const path of paths) {
    const [, first = "", ...others] = path.split("/").filter((segment) => segment !== "");
    const name = first.startsWith("@") ? `${first}/${others.shift() ?? ""}` : first;
    const [version = ""] = others;
    if (!isPackageName(name) || (!isPlugin && !isPackageVersion(version))) continue;
    found.set(isPlugin ? name : `${name}@${version}`, { name, version: isPlugin ? undefined : version });
  }
  return [...found.values()];
}
