import { readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import type { Loader, Metafile, Plugin, Location, Message } from "esbuild";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

/** The oldest Node that daemons run on. */
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
/** More would hide the first ones. */
const shownProblems = 10;
const notBundled = { code: "BUNDLE_FAILED", message: "the code cannot be bundled; nothing was uploaded" };

interface Bundle {
  readonly code: string;
  /** The source map; its sources are relative to the packed folder, and the code does not refer to it yet. */
  readonly map: SourceMap;
  /** What went in, relative to the folder. */
  readonly inputs: readonly string[];
  readonly warnings: readonly string[];
}

export interface SourceMap {
  readonly sources: readonly string[];
  readonly [field: string]: unknown;
}

/** Makes one ES module of the entrypoint and all that it imports. Fails with BUNDLE_FAILED. The same input gives the same bytes. */
export async function bundleCode(folder: string, entrypoint: string, output: string): Promise<Bundle> {
  // Only this way needs the compiler, and loading it costs a command's start.
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
    external: ["node:*"],
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

/** What the code may take for granted in Node and finds in no ES module. On the first line, which is a comment, so that the map stays true. */
function prelude(code: string): string {
  const place = code.includes("__bundle_url") ? "const __bundle_url = import.meta.url; " : "";
  // CommonJS packages require what is built in.
  const require = code.includes("typeof require ")
    ? 'import { createRequire as __create_require } from "node:module"; const require = __create_require(import.meta.url); '
    : "";
  return require + place;
}

/** Lets each module find the files beside it as if it ran where it lies. */
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

/** Packages that load their addon by a path made at run time: the compiler does not see it. */
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

/** What the compiler found, with file, line, column and the line itself. */
export function bundleFailure(error: unknown, root: string, { code, message } = notBundled): CommandError {
  const problems = (error as { errors?: readonly Problem[] }).errors ?? [{ text: error instanceof Error ? error.message : String(error) }];
  const left = problems.length - shownProblems;
  return new CommandError(code, message, {
    exitCode: exitCodes.failed,
    details: [...problems.slice(0, shownProblems).flatMap((problem) => linesOf(problem, root)), ...(left > 0 ? [`and ${left} more`] : [])],
    hint: hintFor(problems),
  });
}

/** Why code that loads machine code cannot be bundled, nor run. */
function nativeAddon(name: string): string {
  return `${name} is a native addon: workers run JavaScript and WebAssembly only, so it could not be loaded. Use a package without one.`;
}

function linesOf({ text, location }: Problem, root: string): string[] {
  const sentence = text.replaceAll(`${root}${path.sep}`, "");
  return location ? [`${location.file}:${location.line}:${location.column + 1}: ${sentence}`, ...excerptOf(location)] : [sentence];
}

/** The line at fault with its number, and below it a mark. */
export function excerptOf({ line, column, lineText, length }: Location): string[] {
  // Minified code has lines that nobody wants to see whole.
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
  if (/^[a-z]+:/.test(first)) return `${first} belongs to another runtime; workers run on Node`;
  return `${first} is not there; look at its spelling and capitals`;
}

/** The package that a bare specifier names; undefined for paths, and for modules that come with a runtime. */
function packageOf(specifier: string): string | undefined {
  return /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?=\/|$)/i.exec(specifier)?.[0];
}
