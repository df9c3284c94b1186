import { readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { planExternals } from "./external-packages.js";
import { readImports, type PackageImport } from "./module-imports.js";
import { withFiles, type LeftOut, type PackPlan } from "./pack-plan.js";

const codePattern = /\.[cm]?[jt]sx?$/;
const modulesFolder = "node_modules/";

/**
 * Returns the plan with all packages that the code imports, also from parent folders (workspaces). Excludes the project's own node_modules
 * if the build output has its own node_modules and imports nothing from those of the project.
 */
export async function withDependencies(plan: PackPlan, folder: string): Promise<PackPlan> {
  const { entrypoint, pluginEntry } = plan.facts;
  if (pluginEntry !== undefined || entrypoint === undefined || !codePattern.test(entrypoint)) return plan;
  const root = await realpath(folder);
  const source = plan.files.find((file) => file.path === entrypoint)?.source;
  const isGenerated = source !== undefined && !(await realpath(source)).startsWith(root + path.sep);
  const imports = await readImports(root, entrypoint, isGenerated ? await readFile(source, "utf8") : undefined);
  const { packages } = imports;
  const isExcluded = plan.leftOut.some(({ path: file, rule }) => rule.startsWith(".runtimeignore") && file.includes(modulesFolder));
  if (isExcluded) return { ...plan, imports };
  const isInFolder = ({ folder: found }: PackageImport) => found?.startsWith(path.join(root, "node_modules") + path.sep) === true;
  const trimmed = hasOwnModules(plan, entrypoint) && !packages.some(isInFolder) ? withoutModules(plan) : plan;
  return { ...(await withMissingPackages(trimmed, root, packages)), imports };
}

/** Whether the plan contains a package in one of the folders in which Node.js searches for imports of the module `importer`. */
export function hasPackage({ files }: PackPlan, { name, importer }: Pick<PackageImport, "name" | "importer">): boolean {
  const folders = [""];
  for (let at = importer.indexOf("/"); at !== -1; at = importer.indexOf("/", at + 1)) folders.push(importer.slice(0, at + 1));
  return folders.some((folder) => files.some((file) => file.path.startsWith(`${folder}${modulesFolder}${name}/`)));
}

/**
 * Whether the folder of the entrypoint, or a folder between the root and the folder of the entrypoint, has its own node_modules. Builds
 * with Nitro and Next.js create such a node_modules.
 */
function hasOwnModules({ files }: PackPlan, entrypoint: string): boolean {
  const folders = [...entrypoint.matchAll(/\//g)].map(({ index }) => entrypoint.slice(0, index + 1));
  return folders.some((folder) => files.some((file) => file.path.startsWith(folder + modulesFolder)));
}

function withoutModules(plan: PackPlan): PackPlan {
  if (!plan.files.some((file) => file.path.startsWith(modulesFolder))) return plan;
  const rule = "node_modules: the code of the entrypoint imports no package of this folder";
  const excluded: LeftOut = { path: modulesFolder, rule };
  return {
    ...plan,
    files: plan.files.filter((file) => !file.path.startsWith(modulesFolder)),
    leftOut: [...plan.leftOut.filter((each) => !each.path.startsWith(modulesFolder)), excluded].toSorted((one, other) =>
      one.path < other.path ? -1 : 1,
    ),
  };
}

/** Adds imported packages that are installed but not in the plan, together with their dependencies. */
async function withMissingPackages(plan: PackPlan, root: string, packages: readonly PackageImport[]): Promise<PackPlan> {
  const installed = packages.filter((each) => each.folder !== undefined);
  if (installed.every((each) => hasPackage(plan, each))) return plan;
  // Includes packages that are already in the plan, because their dependencies can be installed in a parent folder.
  const folders = new Map<string, string[]>();
  for (const { name, from } of installed) folders.set(name, [...(folders.get(name) ?? []), from]);
  const { files } = await planExternals(root, folders, "node_modules: imported, and installed in a folder above");
  const isAdded = ({ path: link }: LeftOut) => files.some((file) => file.path.startsWith(`${link}/`));
  const links = plan.links.filter((link) => !isAdded(link));
  return withFiles({ ...plan, links, leftOut: plan.leftOut.filter((each) => !isAdded(each)) }, files);
}
