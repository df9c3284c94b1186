import { readFile, realpath } from "node:fs/promises";
import path from "node:path";
import type { Message, Metafile } from "esbuild";
import { textLoaders } from "../../shared/bundled-files.js";
import { packageNameOf } from "../../shared/installed-package.js";
import { buildWithOptional, isMissing, type BundleOptions } from "../../shared/optional-imports.js";
import { InvalidTsconfig, jsxMode, readTsconfig, tsconfigWarnings, type Tsconfig } from "../../shared/tsconfig.js";
import { bundleFailure } from "./bundle-failure.js";
import { readPackageOf } from "./installed-package.js";
import { ModuleLocations } from "./module-locations.js";
import { refuseAddonPackages, refuseAddons } from "./native-addons.js";
import type { PackedFile } from "./pack-plan.js";

/** The oldest Node.js version that the daemon supports. */
const target = "node24";

interface BundleRequest {
  readonly folder: string;
  readonly entrypoint: string;
  /** Path of the bundle in the archive. */
  readonly output: string;
  /** Names of packages that the bundle imports at run time. The bundle does not contain their code. */
  readonly externals: readonly string[];
}

interface Bundle {
  readonly code: string;
  /**
   * The source map, with source paths relative to the packed folder. The caller must append the reference to the source map to the code.
   */
  readonly map: SourceMap;
  /** Paths of the modules in the bundle, relative to the packed folder. */
  readonly inputs: readonly string[];
  /**
   * The packages that the bundle does not contain. Each has a list of folders: the folder of the entrypoint, and the folders of the modules
   * that import the package.
   */
  readonly externals: ReadonlyMap<string, readonly string[]>;
  /** Files to pack beside the bundle, because bundled modules read these files by a path relative to themselves. */
  readonly files: readonly PackedFile[];
  readonly warnings: readonly string[];
}

export interface SourceMap {
  readonly sources: readonly string[];
  readonly [field: string]: unknown;
}

/** Bundles the entrypoint and its imports into one ES module. Equal sources give an equal bundle. Throws BUNDLE_FAILED. */
export async function bundleCode({ folder, entrypoint, output, externals }: BundleRequest): Promise<Bundle> {
  const root = await realpath(folder);
  const config = await tsconfigOf(root, entrypoint);
  const locations = new ModuleLocations(root, path.dirname(path.join(root, output)));
  const options: BundleOptions = {
    absWorkingDir: root,
    entryPoints: [path.join(root, entrypoint)],
    outfile: path.join(root, output),
    write: false,
    bundle: true,
    treeShaking: true,
    format: "esm",
    platform: "node",
    target,
    charset: "utf8",
    external: ["node:*", "cloudflare:workers", ...externals],
    loader: textLoaders,
    jsx: jsxMode(config),
    sourcemap: "external",
    sourcesContent: false,
    metafile: true,
    logLevel: "silent",
    define: {
      "import.meta.url": "__module_url",
      "import.meta.dirname": "__module_dirname",
      "import.meta.filename": "__module_filename",
      __dirname: "__module_dirname",
      __filename: "__module_filename",
    },
    plugins: [refuseAddons(root), locations.plugin()],
  };
  // Loads the compiler on demand, because loading it would slow the start of every command.
  const { build } = await import("esbuild");
  const result = await buildWithOptional({ build, options, readPackageOf }).catch((error: unknown) =>
    Promise.reject(bundleFailure(error, root)),
  );
  const inputs = inputsOf(result.metafile);
  await refuseAddonPackages(root, inputs);
  const [map, code] = ["map", "mjs"].map((end) => result.outputFiles.find((file) => file.path.endsWith(end))?.text ?? "") as [
    string,
    string,
  ];
  return {
    code: prelude(code, locations.hasZippedModules) + code,
    map: relativeTo(path.posix.dirname(output), JSON.parse(map) as SourceMap),
    inputs,
    externals: new Map(externals.map((name) => [name, foldersFor(name, { root, entrypoint, metafile: result.metafile })])),
    files: locations.files,
    warnings: [...tsconfigWarnings(config), ...result.warnings.map(warningText)],
  };
}

/**
 * Returns the tsconfig.json settings that apply to the entrypoint. Undefined for an invalid tsconfig.json, because esbuild reads the
 * tsconfig.json of each module and reports the problem.
 */
async function tsconfigOf(root: string, entrypoint: string): Promise<Tsconfig | undefined> {
  const read = (file: string) => readFile(path.join(root, file), "utf8").catch(() => undefined);
  return readTsconfig(read, entrypoint).catch((error: unknown) => {
    if (error instanceof InvalidTsconfig) return undefined;
    throw error;
  });
}

function warningText({ text, location }: Message): string {
  return location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text;
}

/**
 * Returns the folders of the modules that import a package. The folder of the entrypoint is first, because the bundle is in this folder.
 */
function foldersFor(name: string, { root, entrypoint, metafile }: { root: string; entrypoint: string; metafile: Metafile }): string[] {
  const importers = Object.entries(metafile.inputs).filter(([, { imports }]) => imports.some((each) => packageNameOf(each.path) === name));
  return [...new Set([entrypoint, ...importers.map(([input]) => input)].map((file) => path.dirname(path.join(root, file))))];
}

function inputsOf({ inputs }: Metafile): string[] {
  return Object.keys(inputs)
    .filter((input) => !isMissing(input))
    .toSorted();
}

/**
 * Returns definitions that code for Node.js expects and ES modules lack, such as `require`. Contains no line break: the caller puts the
 * definitions before the comment in the bundle's first line, so that the source map stays valid.
 */
function prelude(code: string, hasZippedModules: boolean): string {
  // Uses `var`, because modules in the bundle can declare variables with the same names.
  const zipped = hasZippedModules
    ? "var __module_url = import.meta.url, __module_filename = import.meta.filename, __module_dirname = import.meta.dirname; "
    : "";
  const place = code.includes("__bundle_url") ? "const __bundle_url = import.meta.url; " : "";
  // Bundled CommonJS packages call `require` to load built-in modules.
  const require = code.includes("typeof require ")
    ? 'import { createRequire as __create_require } from "node:module"; const require = __create_require(import.meta.url); '
    : "";
  return require + zipped + place;
}

function relativeTo(outputFolder: string, map: SourceMap): SourceMap {
  return { ...map, sources: map.sources.map((source) => path.posix.join(outputFolder, source)) };
}
