import path from "node:path";
import type { Installation } from "../../shared/installation.js";
import { readPackageMetadata } from "../packages/package-metadata.js";
import { readPluginFolder } from "../packages/plugin-catalog.js";
import { listPackageFolders, readWorkerFolder } from "../packages/worker-folders.js";
import { dataScopeProblem } from "./oci-package-store.js";

/** A package folder on the disk of this machine. */
export interface LocalPackage {
  readonly kind: "worker" | "plugin";
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  /** Record of the upload. Undefined for a plugin, and for a folder that was copied by hand. */
  readonly installation?: Installation | undefined;
  /** Reason why this package cannot be in a package store. */
  readonly problem?: string | undefined;
}

/** Returns all worker versions in a directory. `installDirectory` is the directory in which the daemon installs versions. */
export function localVersions(directory: string, installDirectory: string | undefined): LocalPackage[] {
  return listPackageFolders(directory).flatMap((workerFolder) =>
    readWorkerFolder(directory, workerFolder, undefined).versions.map(({ name, version, folder, installation, problem }) => {
      const found = { kind: "worker", name, version, folder, installation } as const;
      const data = () => dataScopeProblem(readPackageMetadata(folder)?.fields["data"]);
      return { ...found, problem: problem ?? placeProblem(found, installDirectory, version) ?? data() };
    }),
  );
}

/** Returns all plugins in a directory. `installDirectory` is the directory in which the daemon installs plugins. */
export function localPlugins(directory: string, installDirectory: string | undefined): LocalPackage[] {
  return listPackageFolders(directory).flatMap((folder) => {
    const plugin = readPluginFolder({ path: directory, source: "uploaded" }, folder);
    if (!plugin) return [];
    const found = { kind: "plugin", name: plugin.name, version: plugin.metadata?.version ?? "", folder } as const;
    return [{ ...found, problem: plugin.problem ?? placeProblem(found, installDirectory, "") }];
  });
}

function placeProblem({ name, folder }: LocalPackage, installDirectory: string | undefined, below: string): string | undefined {
  if (installDirectory === undefined) return "no directory is writable";
  const expected = path.join(installDirectory, name, below);
  return folder === expected ? undefined : `move this folder to ${expected}`;
}
