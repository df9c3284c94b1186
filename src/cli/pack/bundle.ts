import { readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import type { Loader, Metafile, Plugin, Location, Message } from "esbuild";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

/** JavaScript version of the bundle: the oldest Node.js version that the daemon supports. */
const target = "node24";
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
const ownPlacePattern = /\bimport\s*\.\s*meta\s*\.\s*(?:url|dirname|filename)\b|\b__(?:dirname|filename)\b/;
/** Maximum number of compiler errors that a message shows. */
const shownProblems = 10;
const notBundled = { code: "BUNDLE_FAILED", message: "the code cannot be bundled; nothing was uploaded" };

interface Bundle {
  readonly code: string;
  /** The source map, with source paths relative to the packed folder. `code` contains no reference to the map yet. */
  readonly map: SourceMap;
  /** Paths of the bundled files, relative to the packed folder. */
  readonly inputs: readonly string[];
  readonly warnings: readonly string[];
}

export interface SourceMap {
  readonly sources: readonly string[];
  readonly [field: string]: unknown;
}

/** Bundles the entrypoint and its imports into one ES module. The same files always give the same bundle. Throws BUNDLE_FAILED. */
export async function bundleCode(folder: string, entrypoint: string, output: string): Promise<Bundle> {
  // The compiler is loaded on demand, because loading it would slow down the start of every command.
  const { build } = await import("esbuild");
  const root = await realpath(folder);
  const options = {
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
    external: ["node:*", "cloudflare:workers"],
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
    plugins: [refuseAddons(), ownPlaces(path.dirname(path.join(root, output)))],
  } as const;
  const result = await build({
    ...options,
    entryPoints: [...options.entryPoints],
    external: [...options.external],
    plugins: [...options.plugins],
  }).catch((error: unknown) => Promise.reject(bundleFailure(error, root)));
  const inputs = inputsOf(result.metafile);
  await refuseAddonPackages(root, inputs);
  const [map, code] = ["map", "mjs"].map((end) => result.outputFiles.find((file) => file.path.endsWith(end))?.text ?? "") as [
    string,
    string,
  ];
  return {
    code: prelude(code) + code,
    map: relativeTo(path.posix.dirname(output), JSON.parse(map) as SourceMap),
    inputs,
    warnings: result.warnings.map(({ text, location }) =>
      location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text,
    ),
  };
}

function inputsOf({ inputs }: Metafile): string[] {
  return Object.keys(inputs).toSorted();
}

/**
 * Returns definitions that Node.js code expects but ES modules lack. They are inserted before the comment on the bundle's first line, so
 * that the source map stays valid.
 */
function prelude(code: string): string {
  const place = code.includes("__bundle_url") ? "const __bundle_url = import.meta.url; " : "";
  // Defines `require`, because CommonJS packages call it for built-in modules.
  const require = code.includes("typeof require ")
    ? 'import { createRequire as __create_require } from "node:module"; const require = __create_require(import.meta.url); '
    : "";
  return require + place;
}

/**
 * Returns a compiler plugin that replaces `import.meta.url` and similar. Each module then finds files relative to its original location.
 */
function ownPlaces(outputFolder: string): Plugin {
  return {
    name: "own-places",
    setup(plugged) {
      plugged.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: "file" }, async ({ path: file }) => {
        const text = await readFile(file, "utf8");
        if (!ownPlacePattern.test(text)) return undefined;
        const place = encodeURI(path.relative(outputFolder, file).split(path.sep).join("/"));
        const lines = [
          `var __module_url = new URL(${JSON.stringify(place.startsWith(".") ? place : `./${place}`)}, __bundle_url).href`,
          "__module_filename = decodeURIComponent(new URL(__module_url).pathname)",
          '__module_dirname = __module_filename.slice(0, __module_filename.lastIndexOf("/"))',
        ];
        return { contents: `${lines.join(", ")}; ${text.replace(/^#!.*/, "")}`, loader: loaders[path.extname(file).slice(1)] ?? "js" };
      });
    },
  };
}

function refuseAddons(): Plugin {
  return {
    name: "refuse-addons",
    setup(plugged) {
      plugged.onResolve({ filter: /\.node$/ }, ({ path: file }) => ({ errors: [{ text: nativeAddon(file) }] }));
    },
  };
}

/** Rejects packages with a native addon whose path is computed at run time. The compiler cannot detect such an addon. */
async function refuseAddonPackages(root: string, inputs: readonly string[]): Promise<void> {
  const folders = new Set(inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []));
  for (const folder of folders) {
    const isAddon = await stat(path.join(root, folder, "binding.gyp")).then(
      () => true,
      () => false,
    );
    if (isAddon) throw bundleFailure({ errors: [{ text: nativeAddon(folder.slice(folder.lastIndexOf("node_modules/") + 13)) }] }, root);
  }
}

function relativeTo(outputFolder: string, map: SourceMap): SourceMap {
  return { ...map, sources: map.sources.map((source) => path.posix.join(outputFolder, source)) };
}

type Problem = Pick<Message, "text"> & Partial<Pick<Message, "location">>;

/** Converts a compiler error to a CommandError with file, line, column and excerpt. */
export function bundleFailure(error: unknown, root: string, { code, message } = notBundled): CommandError {
  const problems = (error as { errors?: readonly Problem[] }).errors ?? [{ text: error instanceof Error ? error.message : String(error) }];
  const left = problems.length - shownProblems;
  return new CommandError(code, message, {
    exitCode: exitCodes.failed,
    details: [...problems.slice(0, shownProblems).flatMap((problem) => linesOf(problem, root)), ...(left > 0 ? [`and ${left} more`] : [])],
    hint: hintFor(problems),
  });
}

/** Returns the error text for a package that is a native addon. */
function nativeAddon(name: string): string {
  return `${name} is a native addon, which workers cannot load. Use a package with only JavaScript or WebAssembly.`;
}

function linesOf({ text, location }: Problem, root: string): string[] {
  const sentence = text.replaceAll(`${root}${path.sep}`, "");
  return location ? [`${location.file}:${location.line}:${location.column + 1}: ${sentence}`, ...excerptOf(location)] : [sentence];
}

/** Returns the line with the error and its line number, and a line with a marker below the error. */
export function excerptOf({ line, column, lineText, length }: Location): string[] {
  // Shows only a part of a long line, as in minified code.
  const start = Math.max(0, column - 60);
  const shown = lineText.slice(start, start + 120);
  const number = String(line);
  return [
    `  ${number} | ${shown.replaceAll("\t", " ")}`,
    `  ${" ".repeat(number.length)} | ${" ".repeat(column - start)}${"^".repeat(Math.max(1, Math.min(length, shown.length - (column - start))))}`,
  ];
}

function hintFor(problems: readonly Problem[]): string | undefined {
  const unresolved = problems.flatMap(({ text }) => /^Could not resolve "([^"]+)"/.exec(text)?.[1] ?? []);
  const [first] = unresolved;
  if (first === undefined) return undefined;
  const packages = [...new Set(unresolved.flatMap((specifier) => packageOf(specifier) ?? []))];
  if (packages.length > 0) return `npm install ${packages.join(" ")}`;
  if (/^[a-z]+:/.test(first)) return `${first} is a module of another runtime; workers run on Node.js`;
  return `${first} does not exist; check the spelling, including upper and lower case`;
}

/** Returns the package name of an import specifier. Undefined for paths and runtime modules. */
function packageOf(specifier: string): string | undefined {
  return /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?=\/|$)/i.exec(specifier)?.[0];
}
