import { lstatSync } from "node:fs";
import { readFile, readdir, realpath } from "node:fs/promises";
import path from "node:path";
import type { Loader, OnLoadResult, Plugin } from "esbuild";
import { wasmModule, withClassicJsx } from "../../shared/bundled-files.js";
import { neverPackedPathReason } from "../../shared/packing/never-packed.js";
import { packageFolderOf } from "./installed-package.js";
import type { PackedFile } from "./pack-plan.js";

const loaders: Readonly<Record<string, Loader>> = {
  ts: "ts",
  mts: "ts",
  cts: "ts",
  tsx: "tsx",
  jsx: "jsx",
  js: "js",
  mjs: "js",
  cjs: "js",
};
const ownLocationPattern = /\bimport\s*\.\s*meta\s*\.\s*(?:url|dirname|filename)\b|\b__(?:dirname|filename)\b/;
/** Match `new URL("file", import.meta.url)` and `join(__dirname, "folder", "file")`, by which a module finds a file beside itself. */
const besidePatterns = [
  /\bnew\s+URL\(\s*(?<names>"[^"\n]+"|'[^'\n]+')\s*,\s*import\s*\.\s*meta\s*\.\s*url\s*\)/g,
  /\b(?:join|resolve)\(\s*(?:__dirname|import\s*\.\s*meta\s*\.\s*dirname)\s*,\s*(?<names>(?:"[^"\n]+"|'[^'\n]+')(?:\s*,\s*(?:"[^"\n]+"|'[^'\n]+'))*)\s*\)/g,
];

/**
 * Makes bundled modules find the files beside their original location. Collects these files if they belong to installed packages. A file
 * that is N folders above the project is packed in `node_modules/.outside-N`.
 */
export class ModuleLocations {
  readonly #root: string;
  readonly #outputFolder: string;
  readonly #files = new Map<string, PackedFile>();
  readonly #searched = new Set<string>();
  #hasZippedModules = false;

  /** `root` and `outputFolder` are absolute paths with links resolved. */
  constructor(root: string, outputFolder: string) {
    this.#root = root;
    this.#outputFolder = outputFolder;
  }

  /** The collected files, which must be packed beside the bundle. */
  get files(): readonly PackedFile[] {
    return [...this.#files.values()];
  }

  /** Whether bundled modules come from zip files of Yarn. These modules then have the location of the bundle instead of their own. */
  get hasZippedModules(): boolean {
    return this.#hasZippedModules;
  }

  plugin(): Plugin {
    return {
      name: "module-locations",
      setup: (build) => {
        build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: "file" }, ({ path: file }) => this.#load(file));
        build.onLoad({ filter: /\.wasm$/, namespace: "file" }, ({ path: file }) => this.#loadWasm(file));
      },
    };
  }

  async #load(file: string): Promise<OnLoadResult | undefined> {
    const text = await readUnzipped(file);
    if (text === undefined) {
      this.#hasZippedModules = true;
      return undefined;
    }
    if (isInstalled(path.relative(this.#root, file))) await this.#keepBeside(file, text);
    const code = withClassicJsx(text);
    const location = ownLocationPattern.test(text) ? this.#declarations(file) : "";
    if (code === text && location === "") return undefined;
    return { contents: `${location}${code.replace(/^#!.*/, "")}`, loader: loaders[path.extname(file).slice(1)] ?? "js" };
  }

  /**
   * Returns declarations of the variables that replace `import.meta.url` and similar expressions in a module. Contains no line break, so
   * that the source map stays valid.
   */
  #declarations(file: string): string {
    const lines = [
      `var __module_url = new URL(${JSON.stringify(encodeURI(this.#locationOf(file)))}, __bundle_url).href`,
      "__module_filename = decodeURIComponent(new URL(__module_url).pathname)",
      '__module_dirname = __module_filename.slice(0, __module_filename.lastIndexOf("/"))',
    ];
    return `${lines.join(", ")}; `;
  }

  /** Returns a module that reads the WebAssembly file from the package at run time and compiles it. */
  async #loadWasm(file: string): Promise<OnLoadResult> {
    const source = await realpath(file).catch(() => undefined);
    if (source === undefined) {
      const name = /[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)?.[1] ?? path.basename(file);
      return { errors: [{ text: `${path.basename(file)} is in a zip file of Yarn. Unpack the package with: yarn unplug ${name}` }] };
    }
    this.#keep(file, source);
    return { contents: wasmModule(this.#locationOf(file), "__bundle_url"), loader: "js" };
  }

  /** Collects files that a module can read: all WebAssembly files in the folder of the module, and the files that the code names. */
  async #keepBeside(file: string, text: string): Promise<void> {
    const folder = path.dirname(file);
    const packageFolder = await packageFolderOf(file);
    if (packageFolder === undefined) return;
    const named = besidePatterns.flatMap((pattern) =>
      [...text.matchAll(pattern)].map(({ groups }) => path.join(folder, ...namesIn(groups?.["names"] ?? ""))),
    );
    const found = [...(await this.#wasmFilesIn(folder)), ...named];
    for (const each of found) {
      if (!(await this.#keepWithin(packageFolder, each)) || !/\.[cm]?js$/.test(each)) continue;
      // Also packs package.json, because Node.js reads the module type of a JavaScript file from there.
      await this.#keepWithin(packageFolder, path.join(packageFolder, "package.json"));
    }
  }

  async #wasmFilesIn(folder: string): Promise<string[]> {
    if (this.#searched.has(folder)) return [];
    this.#searched.add(folder);
    const names = await readdir(folder).catch(() => []);
    return names.filter((name) => name.endsWith(".wasm")).map((name) => path.join(folder, name));
  }

  /**
   * Adds a file of a package to the collected files. Ignores a file outside of the package, because a dependency must not select other
   * files of this machine.
   */
  async #keepWithin(packageFolder: string, file: string): Promise<boolean> {
    const [folder, source] = await Promise.all([packageFolder, file].map((each) => realpath(each).catch(() => undefined)));
    if (folder === undefined || source === undefined || !source.startsWith(folder + path.sep)) return false;
    if (neverPackedPathReason(toPosix(path.relative(folder, source))) !== undefined || !lstatSync(source).isFile()) return false;
    this.#keep(file, source);
    return true;
  }

  #keep(file: string, source: string): void {
    const location = this.#packedPath(file);
    this.#files.set(location, { path: location, source, sizeBytes: lstatSync(source).size, rule: "read by a module of the bundle" });
  }

  #packedPath(file: string): string {
    const relative = toPosix(path.relative(this.#root, file));
    const parents = /^(?:\.\.\/)+/.exec(relative)?.[0] ?? "";
    return parents === "" ? relative : `node_modules/.outside-${parents.length / 3}/${relative.slice(parents.length)}`;
  }

  /** Returns the path at which a file is packed, relative to the bundle. */
  #locationOf(file: string): string {
    const location = toPosix(path.relative(this.#outputFolder, path.join(this.#root, this.#packedPath(file))));
    return location.startsWith(".") ? location : `./${location}`;
  }
}

/** Returns the text of a file. Undefined for a file in a zip file of Yarn, because only esbuild can read it. */
async function readUnzipped(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR" || code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Returns true if the file is in a folder `node_modules` or above the project folder. `relative` is its path from the project folder. The
 * packing rules apply only to the other files.
 */
function isInstalled(relative: string): boolean {
  return relative.startsWith("..") || /(?:^|[\\/])node_modules[\\/]/.test(relative);
}

/** Returns the strings in a list of string literals, separated by commas. */
function namesIn(list: string): string[] {
  const names = [...list.matchAll(/"([^"]+)"|'([^']+)'/g)].map(([, double, single]) => double ?? single ?? "");
  return names.map((name) => name.replace(/[?#].*$/, ""));
}

function toPosix(location: string): string {
  return location.split(path.sep).join("/");
}
