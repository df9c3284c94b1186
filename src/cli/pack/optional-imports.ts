import { isBuiltin } from "node:module";
import path from "node:path";
import type { ImportKind, Metafile, OnLoadResult, Plugin, PluginBuild } from "esbuild";
import { packageFolderOf, packageNameOf, readInstalledPackage } from "./installed-package.js";

/** Namespaces of the modules that replace missing packages, and the error of Node.js for each. */
const missing = {
  "missing-module": { code: "MODULE_NOT_FOUND", text: "Cannot find module" },
  "missing-package": { code: "ERR_MODULE_NOT_FOUND", text: "Cannot find package" },
} as const;
/** Marks the resolution that the plugin itself starts. */
const own = Symbol("own resolution");

/**
 * Replaces imports of packages that are not installed by a module that throws the error of Node.js, if the importing package declares them
 * optional. esbuild itself accepts missing imports within try and catch.
 */
export class OptionalImports {
  readonly #required: ReadonlySet<string>;
  readonly #optionalByFolder = new Map<string, Promise<ReadonlySet<string>>>();

  /** `required`: packages that are not replaced, so that esbuild reports each import. */
  constructor(required: ReadonlySet<string> = new Set()) {
    this.#required = required;
  }

  plugin(): Plugin {
    return {
      name: "optional-imports",
      setup: (build) => {
        this.#resolve(build);
        for (const [namespace, { code, text }] of Object.entries(missing))
          build.onLoad({ filter: /.*/, namespace }, ({ path: specifier }): OnLoadResult => {
            const error = `Object.assign(new Error(${JSON.stringify(`${text} '${specifier}'`)}), { code: "${code}" })`;
            return { contents: `module.exports = {}; throw ${error};`, loader: "js" };
          });
      },
    };
  }

  #resolve(build: PluginBuild): void {
    build.onResolve({ filter: /^[@a-z0-9]/i, namespace: "file" }, async ({ path: specifier, importer, resolveDir, kind, pluginData }) => {
      const name = packageNameOf(specifier);
      if (pluginData === own || name === undefined || isBuiltin(specifier) || !isImport(kind) || this.#required.has(name)) return undefined;
      if (!(await this.#optionalImportsOf(path.dirname(importer))).has(name)) return undefined;
      const { errors } = await build.resolve(specifier, { kind, importer, resolveDir, pluginData: own });
      if (errors.length === 0) return undefined;
      return { path: specifier, namespace: kind === "require-call" ? "missing-module" : "missing-package" };
    });
  }

  /** Returns the packages that the package of a folder declares optional. */
  async #optionalImportsOf(folder: string): Promise<ReadonlySet<string>> {
    const known = this.#optionalByFolder.get(folder) ?? readOptional(folder);
    this.#optionalByFolder.set(folder, known);
    return known;
  }
}

async function readOptional(folder: string): Promise<ReadonlySet<string>> {
  const packageFolder = await packageFolderOf(path.join(folder, "package.json"));
  const { optionalDependencies = {}, peerDependenciesMeta = {} } = (packageFolder && (await readInstalledPackage(packageFolder))) || {};
  const peers = Object.entries(peerDependenciesMeta).filter(([, { optional }]) => optional === true);
  return new Set([...Object.keys(optionalDependencies), ...peers.map(([name]) => name)]);
}

function isImport(kind: ImportKind): boolean {
  return kind === "import-statement" || kind === "require-call" || kind === "dynamic-import";
}

/** Whether an input of the metafile replaces a missing package. */
export function isMissing(input: string): boolean {
  return Object.keys(missing).some((namespace) => input.startsWith(`${namespace}:`));
}

/** Returns the missing packages without which the bundle cannot be loaded: the ones that static imports reach from the entrypoint. */
export function findRequiredPackages({ inputs, outputs }: Metafile): ReadonlySet<string> {
  const output = Object.values(outputs).find(({ entryPoint }) => entryPoint !== undefined);
  const reached = new Set(output?.entryPoint === undefined ? [] : [output.entryPoint]);
  for (const input of reached)
    for (const { path: imported, kind, external } of inputs[input]?.imports ?? [])
      if (kind === "import-statement" && !external) reached.add(imported);
  const isKept = (input: string) => (output?.inputs[input]?.bytesInOutput ?? 0) > 0;
  const required = [...reached].filter((input) => isMissing(input) && isKept(input));
  return new Set(required.flatMap((input) => packageNameOf(input.slice(input.indexOf(":") + 1)) ?? []));
}
