import { isBuiltin } from "node:module";
import path from "node:path";
import type { Location, Message, Plugin } from "esbuild";
import { packageFolderOf } from "./installed-package.js";
import { packageNameOf } from "../../shared/installed-package.js";

/** Matches files that contain no code. Their imports are not searched. */
const otherExtensions = [".css", ".html", ".md", ".node", ".sql", ".svg", ".txt", ".wasm", ".png", ".jpg", ".webp", ".woff2"];
const ownModules = new Set(["cloudflare:workers"]);
const skipped = Symbol("skipped");

/** An import of an installed package. */
export interface PackageImport {
  readonly name: string;
  /** Folder of the importing module. */
  readonly from: string;
  /** Folder of the package. Undefined if the package is not installed. */
  readonly folder: string | undefined;
  /** Path of the importing module, relative to the scanned folder. */
  readonly importer: string;
  /** Whether the code can run without the package. True for `require` and `import()`, which can be in a `try` block. */
  readonly isOptional: boolean;
}

/** A relative import of a file that does not exist. */
export interface MissingFile {
  readonly specifier: string;
  readonly location: Location | null;
}

export interface ModuleImports {
  readonly packages: readonly PackageImport[];
  readonly missingFiles: readonly MissingFile[];
}

/**
 * Follows the imports of a module to all its files in the folder. Returns the packages that these files import. `text` is the code of a
 * generated module. Ignores files with other errors.
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

/** Records imports of packages and does not follow them. Follows imports of files, including imports by `paths` of tsconfig.json. */
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
