import { mkdir } from "node:fs/promises";
import path from "node:path";
import { usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { locatePackage } from "./locate-package.js";
import { planPack, type PackPlan } from "./pack-plan.js";
import {
  folderSource,
  isAnyFile,
  nothingToDeploy,
  readPackageInfo,
  type PackageIdentity,
  type PackageKind,
  type PackageSource,
} from "./package-info.js";
import { planBundled } from "./package-archive.js";
import { temporaryFolder } from "./temporary-folder.js";
import { unpackArchive } from "./unpack-archive.js";
import { readManifest } from "../../shared/manifest-yaml.js";
import { detectPackage } from "../detect/detected-package.js";
import type { DetectedProject } from "../detect/detect-project.js";
import { withDependencies } from "./imported-packages.js";
import { manifestFileNames } from "../../shared/metadata-file-names.js";

/** Manifest fields that only plugins have. */
const pluginKeys = ["pluginEntry", "base", "dependencies", "optionalDependencies", "menus", "config"];
const pluginModules = ["plugin.js", "plugin.mjs"];
/**
 * Names of the plugins that are built into the daemon. A package with one of these names can only change the settings of the built-in
 * plugin.
 */
const builtInPlugins: ReadonlySet<unknown> = new Set(["plugin-gateway"]);
/**
 * A package folder contains at least one of these files. Only the folder of a detected project can contain none of them, because its
 * manifest is generated.
 */
const packageMarkers = [...manifestFileNames, "package.json", ...pluginModules];
const workerFiles = ["index.html", "index.js", "index.mjs", "index.ts"];

/** A package folder, or an archive that was unpacked into a folder, ready for validation and packing. */
export interface OpenedPackage {
  readonly kind: PackageKind;
  readonly source: PackageSource;
  /** Path of the package folder, or of the folder into which the archive was unpacked. */
  readonly folder: string;
  readonly isArchive: boolean;
  /** The project that was detected in a folder without a manifest. Undefined for all other packages. */
  readonly project: DetectedProject | undefined;
  /** Temporary folder that only the current user can read. */
  readonly workspace: string;
  /** Returns the plan of the archive: the files to pack. */
  plan(options?: { bundle?: boolean; externals?: readonly string[]; identity?: PackageIdentity }): Promise<PackPlan>;
}

/**
 * Opens a package folder or archive. If `kind` is undefined, detects the package kind. In a folder without a manifest, detects the build
 * output. Throws NOT_BUILT if the build output is missing.
 */
export async function openPackage(context: Context, given: string, kind?: PackageKind): Promise<OpenedPackage> {
  const located = await locatePackage(context, given);
  const workspace = await temporaryFolder(context);
  const opened = located.isFolder ? { folder: located.path } : await unpackTo(path.join(workspace, "unpacked"), located.path);
  const detected = located.isFolder && kind !== "plugin" ? await detectPackage(opened.folder, workspace) : undefined;
  const source = { ...(detected?.options.source ?? folderSource(opened.folder)), label: given };
  if (located.isFolder && kind === undefined && !(await isAnyFile(source, packageMarkers)))
    throw nothingToDeploy("NOTHING_TO_DEPLOY", given);
  const found = kind ?? (await findPackageKind(source));
  return {
    kind: found,
    source,
    project: detected?.project,
    folder: opened.folder,
    isArchive: !located.isFolder,
    workspace,
    plan: async ({ bundle = false, externals = [], identity = {} } = {}) => {
      if (bundle && found === "plugin") throw usageError("--bundle cannot be used with a plugin");
      if (bundle && detected?.project.output?.module)
        throw usageError(
          `--bundle cannot be used with ${detected.project.kind} without a manifest, because runtimectl generates the entrypoint of the package`,
          "remove --bundle",
        );
      if ("files" in opened) {
        if (bundle) throw usageError("--bundle cannot be used with an archive, because an archive is uploaded unchanged");
        return { facts: await readPackageInfo(source, found, identity), files: opened.files, leftOut: [], links: [] };
      }
      const options = { identity, ...detected?.options };
      if (bundle) return planBundled(context, { folder: opened.folder, directory: workspace, externals, ...options });
      return withDependencies(await planPack(opened.folder, { kind: found, ...options }), opened.folder);
    },
  };
}

async function unpackTo(directory: string, archive: string) {
  await mkdir(directory);
  return unpackArchive(archive, directory);
}

/**
 * Detects the package kind. A package is a plugin if its manifest has a field that only plugins have. A package without a worker entrypoint
 * is also a plugin if it contains plugin.js or plugin.mjs, or has the name of a built-in plugin.
 */
export async function findPackageKind(source: PackageSource): Promise<PackageKind> {
  const fields = await declaredFields(source);
  const declared = new Set(Object.keys(fields));
  if (pluginKeys.some((key) => declared.has(key))) return "plugin";
  if (declared.has("entrypoint") || (await isAnyFile(source, workerFiles))) return "worker";
  // Also checks the name, because a package that changes the settings of a built-in plugin contains only a manifest.
  return (await isAnyFile(source, pluginModules)) || builtInPlugins.has(fields["name"]) ? "plugin" : "worker";
}

/**
 * Returns the fields of the manifest that have a value. For an invalid manifest, returns no fields, because the validation later reports
 * the problem.
 */
async function declaredFields(source: PackageSource): Promise<Readonly<Record<string, unknown>>> {
  for (const file of manifestFileNames) {
    const text = await source.read(file);
    if (text === undefined) continue;
    const fields = Object.entries(readManifest(text).manifest?.fields ?? {});
    return Object.fromEntries(fields.filter(([, value]) => value !== null));
  }
  return {};
}
