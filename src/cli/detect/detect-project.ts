import { readdir } from "node:fs/promises";
import path from "node:path";
import * as yaml from "yaml";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import { isPackageName } from "../../shared/package-name.js";
import { rootUrlsOfPage } from "../../shared/root-urls.js";
import { usualEntrypoints } from "../../shared/packing/main-files.js";
import { folderSource, isAnyFile, type PackageSource } from "../pack/package-info.js";
import { usualPluginEntries } from "../../shared/plugin-manifest.js";
import { frameworks, usualOutputs, type Framework, type FrameworkOutput } from "./frameworks.js";

/**
 * Names of server modules without extension, in search order. `deploy` uses them if a package has neither an index file nor the field
 * `main`.
 */
const serverFiles = ["server", "app", "main", "src/index", "src/server", "src/app", "src/main", "dist/index", "dist/server", "dist/main"];
const codeExtensions = ["js", "mjs", "cjs", "ts", "mts", "tsx"];
/** Matches a start script that runs one file, such as `NODE_ENV=production node --enable-source-maps dist/server.js`. */
const startScriptPattern = /^(?:[A-Z_]+=\S+ +)*(?:node|tsx|ts-node|bun(?: run)?) +(?:-\S+ +)*(\S+\.[cm]?[jt]sx?)$/;
const wranglerFiles = ["wrangler.jsonc", "wrangler.json", "wrangler.toml"];

/** A project without a manifest, with its framework and the manifest that `deploy` generates. */
export interface DetectedProject {
  /** The framework or kind of the project, such as `Vite`. */
  readonly kind: string;
  /** The build output to deploy, with its manifest. Undefined if the user must build the project first. */
  readonly output: DetectedOutput | undefined;
  /** Paths at which builds of this framework put their output. The error for missing output names these paths. */
  readonly expected: readonly string[];
  /** Name of the script in package.json that builds the project. Undefined without a build script. */
  readonly buildScript: string | undefined;
  readonly advice: string | undefined;
}

export interface DetectedOutput extends Pick<FrameworkOutput, "copies" | "module"> {
  readonly manifest: Readonly<Record<string, unknown>>;
  /** The only folders to pack. Undefined if the packing rules decide for the whole project. */
  readonly packed: readonly string[] | undefined;
}

interface PackageFields {
  readonly name?: unknown;
  readonly main?: unknown;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

/**
 * Returns the project in a folder without a manifest. Undefined if the folder has a manifest, contains a plugin, or contains nothing that
 * can be served.
 */
export async function detectProject(folder: string): Promise<DetectedProject | undefined> {
  const source = folderSource(folder);
  for (const file of manifestFileNames) if ((await source.read(file)) !== undefined) return undefined;
  if ((await isAnyFile(source, usualPluginEntries)) && !(await isAnyFile(source, usualEntrypoints(undefined)))) return undefined;
  const fields = await readFields(source);
  const name = typeof fields?.name === "string" && fields.name !== "" ? {} : { name: nameFor(folder) };
  const buildScript = fields?.scripts?.["build"] === undefined ? undefined : "build";
  const framework = await findFramework(source, fields);
  const server = await findServer(source, fields);
  if (framework && !(isSiteOnly(framework) && server?.kind === "Node.js server")) {
    const output = await findOutput(folder, framework.outputs, source);
    const expected = framework.outputs.map(({ file }) => path.posix.dirname(file));
    return { kind: framework.name, output: output && named(output, name), expected, buildScript, advice: framework.advice };
  }
  if (server) return { ...noBuild, kind: server.kind, output: named({ manifest: server.manifest, packed: undefined }, name) };
  if (await isAnyFile(source, entrypointsOf(fields))) {
    const page = await source.read("index.html");
    const manifest = page !== undefined && hasRootUrls(page) ? { injectBase: "rewrite" } : {};
    if (Object.keys({ ...manifest, ...name }).length === 0) return undefined;
    return { ...noBuild, kind: page === undefined ? "module" : "static site", output: named({ manifest, packed: undefined }, name) };
  }
  const output = await findOutput(folder, usualOutputs, source);
  if (!output && buildScript === undefined) return undefined;
  const expected = usualOutputs.map(({ file }) => path.posix.dirname(file));
  return { kind: "static site", output: output && named(output, name), expected, buildScript, advice: undefined };
}

/** Whether a page loads files by URLs that start with `/`. Such URLs work only if the site is at the root of a host. */
function hasRootUrls(page: string): boolean {
  return [...rootUrlsOfPage(page)].some(({ path: url }) => url !== undefined);
}

/** Whether no build output of the framework contains a server. */
function isSiteOnly({ outputs }: Framework): boolean {
  return outputs.every(({ file }) => file.endsWith(".html"));
}

const noBuild = { expected: [], buildScript: undefined, advice: undefined } as const;

/** Returns the YAML text of the manifest for a detected build output. */
export function manifestTextOf({ manifest }: DetectedOutput): string {
  return Object.keys(manifest).length === 0 ? "" : yaml.stringify(manifest);
}

/** Returns a package source that contains the files of `source` and the generated manifest of a detected build output. */
export function withDetectedManifest(source: PackageSource, output: DetectedOutput): PackageSource {
  const [manifestFile] = manifestFileNames;
  const text = manifestTextOf(output);
  const { module } = output;
  return {
    label: source.label,
    read: async (file) => (file === manifestFile ? text : file === module?.path ? module.text : source.read(file)),
    isFile: async (file) => file === manifestFile || file === module?.path || source.isFile(file),
  };
}

function named(output: DetectedOutput, name: { readonly name?: string }): DetectedOutput {
  return { ...output, manifest: { ...output.manifest, ...name } };
}

/** Returns the default entrypoints in search order, including the field `main` of package.json. */
function entrypointsOf(fields: PackageFields | undefined): string[] {
  return usualEntrypoints(typeof fields?.main === "string" ? path.posix.normalize(fields.main) : undefined);
}

async function readFields(source: PackageSource): Promise<PackageFields | undefined> {
  const text = await source.read("package.json");
  if (text === undefined) return undefined;
  try {
    const fields: unknown = JSON.parse(text);
    return typeof fields === "object" && fields !== null ? fields : undefined;
  } catch {
    // Ignores an invalid package.json here, because the validation of the package reports it later.
    return undefined;
  }
}

async function findFramework(source: PackageSource, fields: PackageFields | undefined): Promise<Framework | undefined> {
  const listed = new Set(Object.keys({ ...fields?.dependencies, ...fields?.devDependencies }));
  for (const framework of frameworks) {
    if (framework.packages.some((name) => listed.has(name))) return framework;
    if (await isAnyFile(source, framework.configFiles ?? [])) return framework;
  }
  return undefined;
}

/**
 * Returns the manifest for a Node.js server or a Cloudflare Worker. The start script or wrangler's configuration determines the entrypoint.
 */
async function findServer(
  source: PackageSource,
  fields: PackageFields | undefined,
): Promise<{ kind: string; manifest: Record<string, unknown> } | undefined> {
  for (const file of wranglerFiles) {
    const text = await source.read(file);
    const main = text === undefined ? undefined : /(?:^|[\s{,])"?main"?\s*[=:]\s*["']([^"']+)["']/m.exec(text)?.[1];
    if (text === undefined || main === undefined || !(await source.isFile(path.posix.normalize(main)))) continue;
    const assets = /(?:^|[\s{,])"?directory"?\s*[=:]\s*["']([^"']+)["']/m.exec(text)?.[1];
    const entrypoint = path.posix.normalize(main);
    return { kind: "Cloudflare Worker", manifest: { entrypoint, ...(assets !== undefined && { assets: path.posix.normalize(assets) }) } };
  }
  const started = startScriptPattern.exec(fields?.scripts?.["start"] ?? "")?.[1];
  const startFile = started === undefined ? undefined : path.posix.normalize(started);
  if (startFile !== undefined && !startFile.startsWith("..") && (await source.isFile(startFile)))
    return { kind: "Node.js server", manifest: { entrypoint: startFile } };
  if (!fields || (await isAnyFile(source, entrypointsOf(fields)))) return undefined;
  for (const file of serverFiles)
    for (const extension of codeExtensions)
      if (await source.isFile(`${file}.${extension}`)) return { kind: "module", manifest: { entrypoint: `${file}.${extension}` } };
  return undefined;
}

async function findOutput(folder: string, outputs: readonly FrameworkOutput[], source: PackageSource): Promise<DetectedOutput | undefined> {
  for (const output of outputs) {
    const file = await expandedFile(folder, output.file);
    if (file === undefined || !(await source.isFile(file))) continue;
    const packed = output.packed.map((entry) => (entry.includes("*") ? path.posix.dirname(file) : entry));
    return { ...output, packed, manifest: { entrypoint: output.module?.path ?? file, ...output.manifest } };
  }
  return undefined;
}

/** Replaces the `*` in a path with the only folder at this position. Returns undefined if there is no folder or more than one. */
async function expandedFile(folder: string, file: string): Promise<string | undefined> {
  const [before, after] = file.split("*");
  if (before === undefined || after === undefined) return file;
  const entries = await readdir(path.join(folder, before), { withFileTypes: true }).catch(() => []);
  const [only, ...others] = entries.filter((entry) => entry.isDirectory());
  return only === undefined || others.length > 0 ? undefined : before + only.name + after;
}

/** Returns a valid package name that resembles the name of a folder, such as `my-app` for `My App`. */
function nameFor(folder: string): string {
  const name = path
    .basename(path.resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
  return isPackageName(name) ? name : "app";
}
