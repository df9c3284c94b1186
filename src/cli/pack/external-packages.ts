import path from "node:path";
import { packageNameOf } from "../../shared/installed-package.js";
import { usageError } from "../command/command-error.js";
import { findInstalledPackage, readInstalledPackage } from "./installed-package.js";
import { filesBelow } from "./files-below.js";
import type { PackedFile } from "./pack-plan.js";

/** An npm package in the archive. */
interface PlacedPackage {
  /**
   * Folder of the package in the archive: `node_modules/NAME`. If two packages need different versions, one version is in the folder of the
   * package that needs it.
   */
  readonly place: string;
  /** Absolute path of the installed package, with symbolic links resolved. */
  readonly source: string;
}

interface ExternalPackages {
  readonly files: readonly PackedFile[];
  /** Names of packages in `--external` that are not installed. */
  readonly missing: readonly string[];
}

/** Returns the package names in `--external`. Throws a usage error for an invalid name, and if `--bundle` is not set. */
export function parseExternals({ bundle = false, external = [] }: { bundle?: boolean; external?: readonly string[] }): readonly string[] {
  const invalid = external.find((name) => packageNameOf(name) !== name);
  if (invalid !== undefined) throw usageError(`--external: ${JSON.stringify(invalid)} is not the name of a package`, "--external sharp");
  if (external.length > 0 && !bundle) throw usageError("--external requires --bundle", "add --bundle");
  return external;
}

/**
 * Returns the files of the packages and of their dependencies, at paths where the imports of the bundle find them. `externals` contains the
 * folders from which Node.js would search for each package.
 */
export async function planExternals(
  root: string,
  externals: ReadonlyMap<string, readonly string[]>,
  rule = "node_modules: --external",
): Promise<ExternalPackages> {
  const layout = new PackageLayout(root);
  const missing: string[] = [];
  for (const [name, folders] of externals) {
    const found = await firstOf(folders, (source) => layout.add(name, { place: "", source }));
    if (!found) missing.push(name);
  }
  const placed = await layout.complete();
  return { files: placed.flatMap((each) => filesOf(each, rule)), missing };
}

async function firstOf(folders: readonly string[], add: (folder: string) => Promise<boolean>): Promise<boolean> {
  for (const folder of folders) if (await add(folder)) return true;
  return false;
}

/**
 * Chooses a folder in the archive for each package, as npm does: the top-level node_modules, or the folder of a package that needs another
 * version.
 */
class PackageLayout {
  readonly #root: string;
  readonly #placed = new Map<string, PlacedPackage>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Adds the package that Node.js would find for an import in `parent`. Returns false if the package is not installed. */
  async add(name: string, parent: PlacedPackage): Promise<boolean> {
    const source = await findInstalledPackage(name, parent.source);
    if (source === undefined) return false;
    const places = modulesFolders(parent.place).map((folder) => `${folder}/${name}`);
    const nearest = places.map((place) => this.#placed.get(place)).find((each) => each !== undefined);
    if (nearest?.source === source) return true;
    // Path of the installed package relative to the project folder. Modules of the bundle expect the files of the package at this path.
    const own = path.relative(this.#root, source).split(path.sep).join("/");
    const place = nearest !== undefined ? places[0] : places.includes(own) ? own : places.at(-1);
    if (place !== undefined) this.#placed.set(place, { place, source });
    return true;
  }

  /**
   * Adds the dependencies of all added packages. Skips optional dependencies that are not installed, and all optional peer dependencies.
   */
  async complete(): Promise<PlacedPackage[]> {
    // The loop also visits the packages that it adds, and thus visits the packages level by level. A package that is added later never
    // hides a package that an earlier import has found.
    for (const parent of this.#placed.values()) {
      const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
        (await readInstalledPackage(parent.source)) ?? {};
      const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
      for (const name of [...Object.keys({ ...optionalDependencies, ...dependencies }), ...peers]) await this.add(name, parent);
    }
    return [...this.#placed.values()];
  }
}

/** Returns the folders in which Node.js searches for a package that a module in the folder `place` imports, nearest first. */
function modulesFolders(place: string): string[] {
  if (place === "") return ["node_modules"];
  const above = place.slice(0, Math.max(0, place.lastIndexOf("node_modules/") - 1));
  return [`${place}/node_modules`, ...modulesFolders(above)];
}

function filesOf({ place, source }: PlacedPackage, rule: string): PackedFile[] {
  return filesBelow(source, (name) => name === "node_modules").map(({ name, source: file, sizeBytes }) => ({
    path: `${place}/${name}`,
    source: file,
    sizeBytes,
    rule,
  }));
}
