import { isBuiltin } from "node:module";
import path from "node:path";
import type { Location, Message, Plugin } from "esbuild";
import { packageFolderOf } from "./installed-package.js";
import { packageNameOf } from "../../shared/installed-package.js";

/** Extensions of files that contain no imports. */
const otherExtensions = [".css", ".html", ".md", ".node", ".sql", ".svg", ".txt", ".wasm", ".png", ".jpg", ".webp", ".woff2"];
const ownModules = new Set(["cloudflare:workers"]);
const skipped = Symbol("skipped");

/** An import of an npm package by a module of the project. */
export interface PackageImport {
  readonly name: string;
  /** Folder of the importing module. */
  readonly from: string;
  /** Folder of the package. Undefined if the package is not installed. */
  readonly folder: string | undefined;
  /** Path of the importing module, relative to the scanned folder. */
  readonly importer: string;
  /** Whether the code can possibly run without the package. True for `require` and `import()`, because the code can catch their errors. */
  readonly isOptional: boolean;
}

/** A relative import in a module that leads to no existing file. */
export interface MissingFile {
  readonly specifier: string;
  readonly location: Location | null;
}

export interface ModuleImports {
  readonly packages: readonly PackageImport[];
  readonly missingFiles: readonly MissingFile[];
}

/**
 * Follows the imports of a module within the folder. Returns the imported packages and the missing files of all visited modules. `text` is
 * the code of the module if the code is generated. Ignores other errors, such as syntax errors.
 */
export async function readImports(folder: string, entrypoint: string, text?: string): Promise<ModuleImports> {
  const { build } = await import("esbuild");
  const packages: PackageImport[] = [];
  const failures: readonly Message[] = await build({
    absWorkingDir: folder,
    ...(text === undefined
      ? { entryPoints: [path.join(folder, entrypoint)] }
      : { stdin: { contents: text, sourcefile: entrypoint, resolveDir: path.join(folder, path.dirname(entrypoint)) } }),
    outfile: path.join(folder, "imports.mjs"),
    write: false,
    bundle: true,
    format: "esm",
    platform: "node",
    jsx: "automatic",
    logLevel: "silent",
    logLimit: 0,
    loader: Object.fromEntries(otherExtensions.map((extension) => [extension, "empty" as const])),
    plugins: [recordPackages(folder, packages)],
  }).then(
    () => [],
    (error: { errors?: readonly Message[] }) => error.errors ?? [],
  );
  const missingFiles = failures.flatMap(({ text: message, location }) => {
    const specifier = /^Could not resolve "([^"]+)"/.exec(message)?.[1];
    return specifier === undefined ? [] : [{ specifier, location }];
  });
  return { packages, missingFiles };
}

/**
 * Returns an esbuild plugin that records imports of packages without following them. Imports of files are followed, including imports by
 * `paths` of tsconfig.json.
 */
function recordPackages(root: string, packages: PackageImport[]): Plugin {
  return {
    name: "record-packages",
    setup(building) {
      building.onResolve({ filter: /^[^./#]/ }, async ({ path: specifier, importer, resolveDir, kind, pluginData }) => {
        if (kind === "entry-point" || pluginData === skipped) return undefined;
        if (isBuiltin(specifier) || ownModules.has(specifier)) return { path: specifier, external: true };
        const { path: file, errors } = await building.resolve(specifier, { kind, importer, resolveDir, pluginData: skipped });
        const isInstalled = errors.length === 0 && /[\\/]node_modules[\\/]/.test(file);
        if (errors.length === 0 && !isInstalled && file.startsWith(`${root}${path.sep}`)) return { path: file };
        const name = packageNameOf(specifier);
        if (name === undefined) return { path: specifier, external: true };
        const found = errors.length === 0 ? await packageFolderOf(file) : undefined;
        packages.push({
          name,
          from: resolveDir,
          folder: found,
          importer: path.relative(root, importer).split(path.sep).join("/"),
          isOptional: kind !== "import-statement",
        });
        return { path: specifier, external: true };
      });
    },
  };
}
