import type { build, BuildOptions, BuildResult, ImportKind, Metafile, OnLoadResult, Plugin, PluginBuild } from "esbuild";
import { packageNameOf, packageFolders, type InstalledPackage } from "./installed-package.js";

/** Namespaces of esbuild for the modules that replace missing packages. Each module throws the error that Node.js would throw. */
const missing = {
  "missing-module": { code: "MODULE_NOT_FOUND", text: "Cannot find module" },
  "missing-package": { code: "ERR_MODULE_NOT_FOUND", text: "Cannot find package" },
} as const;
/** Marks an import resolution that this esbuild plugin starts, so that the plugin does not handle the import a second time. */
const own = Symbol("own resolution");

/** Returns the package.json of the package that contains a module. Undefined if the file cannot be read. */
type ReadPackageOf = (module: string) => Promise<InstalledPackage | undefined>;

/** Options for a build in which esbuild returns the bundle in memory, together with its metafile. */
export type BundleOptions = BuildOptions & { readonly metafile: true; readonly write: false };

interface OptionalBuild {
  /** The function `build` of esbuild, which the caller loads. */
  readonly build: typeof build;
  readonly options: BundleOptions;
  readonly readPackageOf: ReadPackageOf;
}

/**
 * Bundles one entrypoint. Optional packages that are not installed are left out. Rejects with esbuild's errors if the bundle cannot be
 * loaded without such a package.
 */
export async function buildWithOptional({ build: run, options, readPackageOf }: OptionalBuild): Promise<BuildResult<BundleOptions>> {
  const buildWith = (required?: ReadonlySet<string>) => {
    const imports = new OptionalImports(readPackageOf, required);
    return run<BundleOptions>({ ...options, plugins: [imports.plugin(), ...(options.plugins ?? [])] });
  };
  const result = await buildWith();
  const required = findRequiredPackages(result.metafile);
  return required.size === 0 ? result : buildWith(required);
}

/**
 * An esbuild plugin. If a package is declared optional and not installed, the plugin replaces the package by a module that throws the error
 * of Node.js. esbuild itself accepts a missing import only within try and catch.
 */
class OptionalImports {
  readonly #readPackageOf: ReadPackageOf;
  readonly #required: ReadonlySet<string>;
  readonly #optionalByFolder = new Map<string, Promise<ReadonlySet<string>>>();

  /**
   * `required`: names of packages that are never replaced by a generated module. If such a package is not installed, esbuild reports an
   * error for each import.
   */
  constructor(readPackageOf: ReadPackageOf, required: ReadonlySet<string> = new Set()) {
    this.#readPackageOf = readPackageOf;
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
      if (pluginData === own || name === undefined || !isImport(kind) || this.#required.has(name)) return undefined;
      if (!(await this.#optionalImportsOf(importer)).has(name)) return undefined;
      const { errors } = await build.resolve(specifier, { kind, importer, resolveDir, pluginData: own });
      if (errors.length === 0) return undefined;
      return { path: specifier, namespace: kind === "require-call" ? "missing-module" : "missing-package" };
    });
  }

  /** Returns the names of the packages that are optional by the package.json of the package that contains `module`. */
  async #optionalImportsOf(module: string): Promise<ReadonlySet<string>> {
    const [folder = ""] = packageFolders(module);
    const known = this.#optionalByFolder.get(folder) ?? this.#readPackageOf(module).then(optionalPackages);
    this.#optionalByFolder.set(folder, known);
    return known;
  }
}

function optionalPackages({ optionalDependencies, peerDependenciesMeta }: InstalledPackage = {}): ReadonlySet<string> {
  const peers = Object.entries(peerDependenciesMeta ?? {}).filter(([, peer]) => peer?.optional === true);
  return new Set([...Object.keys(optionalDependencies ?? {}), ...peers.map(([name]) => name)]);
}

function isImport(kind: ImportKind): boolean {
  return kind === "import-statement" || kind === "require-call" || kind === "dynamic-import";
}

/** Whether an input in esbuild's metafile is a generated module that replaces a missing package. */
export function isMissing(input: string): boolean {
  return Object.keys(missing).some((namespace) => input.startsWith(`${namespace}:`));
}

/** Returns the missing packages without which the bundle cannot be loaded, because static imports lead from the entrypoint to them. */
function findRequiredPackages({ inputs, outputs }: Metafile): ReadonlySet<string> {
  const output = Object.values(outputs).find(({ entryPoint }) => entryPoint !== undefined);
  const reached = new Set(output?.entryPoint === undefined ? [] : [output.entryPoint]);
  for (const input of reached)
    for (const { path: imported, kind, external } of inputs[input]?.imports ?? [])
      if (kind === "import-statement" && !external) reached.add(imported);
  const isKept = (input: string) => (output?.inputs[input]?.bytesInOutput ?? 0) > 0;
  const required = [...reached].filter((input) => isMissing(input) && isKept(input));
  return new Set(required.flatMap((input) => packageNameOf(input.slice(input.indexOf(":") + 1)) ?? []));
}
