import path from "node:path";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import { bundleCode, type SourceMap } from "./bundle.js";
import { planExternals } from "./external-packages.js";
import { planPack, withFiles, type PackOptions, type PackPlan, type PackedFile } from "./pack-plan.js";
import type { PackageInfo, PackageIdentity } from "./package-info.js";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import * as yaml from "yaml";
import { readFileIfThere } from "../config/read-file-if-there.js";

/** The folder for source maps in a package. The daemon does not serve this folder and does not show it to the worker. */
const sourceMapsFolder = ".source-maps";
/** Names of folders in an isolate: `app` contains the worker's files, and `package` contains the complete package with its source maps. */
const [seenFolder, wholeFolder] = ["app", "package"];
const codePattern = /\.[cm]?[jt]sx?$/;

export interface BundleOptions extends Pick<PackOptions, "source" | "only" | "added"> {
  readonly identity?: PackageIdentity;
  /** Packages that are packed in node_modules, with their dependencies, instead of in the bundle. */
  readonly externals?: readonly string[];
}

interface BundlePlan extends PackPlan {
  readonly warnings: readonly string[];
}

/**
 * Plans an archive with all code bundled into one file, without node_modules and without the bundled modules. The manifest names the bundle
 * as entrypoint. Writes generated files below `directory`.
 */
export async function planBundle(
  folder: string,
  directory: string,
  { externals = [], ...options }: BundleOptions = {},
): Promise<BundlePlan> {
  const plan = await planPack(folder, { withoutPackages: true, ...options });
  const entrypoint = codeOf(plan.facts, folder);
  const output = outputFor(entrypoint, plan);
  const bundle = await bundleCode({ folder, entrypoint, output, externals });
  const { code, map, inputs } = bundle;
  const packages = await planExternals(await realpath(folder), bundle.externals);
  const mapPath = `${sourceMapsFolder}/${output}.map`;
  const mapUrl = path.posix.relative(path.posix.dirname(`${seenFolder}/${output}`), `${wholeFolder}/${mapPath}`);
  const made = [
    await writtenFile(directory, {
      path: output,
      content: `${code}//# sourceMappingURL=${encodeURI(mapUrl)}\n`,
      rule: `the bundle of ${inputs.length} modules`,
    }),
    await writtenFile(directory, {
      path: mapPath,
      content: JSON.stringify(placed(map, mapPath)),
      rule: "the source map of the bundle, not served",
    }),
  ];
  const bundled = new Set(inputs.filter((input) => codePattern.test(input) && input !== output));
  const rest = {
    ...plan,
    facts: { ...plan.facts, entrypoint: output },
    files: plan.files.filter((file) => !bundled.has(file.path)),
    leftOut: [
      ...plan.leftOut,
      ...plan.files.filter((file) => bundled.has(file.path)).map((file) => ({ path: file.path, rule: "in the bundle" })),
    ].toSorted((left, right) => (left.path < right.path ? -1 : 1)),
  };
  const whole = withFiles(withFiles(rest, packages.files), [...bundle.files, ...made]);
  const missing = packages.missing.map((name) => `--external: ${name} is not installed, so imports of it fail at run time`);
  return { ...(await withManifest(whole, directory, { entrypoint: output })), warnings: [...bundle.warnings, ...missing] };
}

function codeOf({ entrypoint }: PackageInfo, folder: string): string {
  if (entrypoint !== undefined && codePattern.test(entrypoint)) return entrypoint;
  throw new CommandError(
    "NOTHING_TO_BUNDLE",
    entrypoint === undefined ? `${folder} has no entrypoint` : `the entrypoint ${entrypoint} is not a module`,
    {
      exitCode: exitCodes.failed,
      hint: "set the entrypoint in the manifest to a JavaScript or TypeScript module, such as entrypoint: src/index.ts; for a page, remove --bundle",
    },
  );
}

/**
 * Returns the path of the bundle. The bundle is in the folder of the entrypoint, so that relative file paths stay valid. The extension
 * `.mjs` makes the bundle an ES module.
 */
function outputFor(entrypoint: string, { files }: PackPlan): string {
  const output = entrypoint.replace(codePattern, ".mjs");
  const isTaken = output !== entrypoint && files.some((file) => file.path === output);
  return isTaken ? output.replace(/\.mjs$/, ".bundle.mjs") : output;
}

/** Returns the source map with source paths relative to the map's location in the isolate. */
function placed(map: SourceMap, mapPath: string): SourceMap {
  const from = path.posix.dirname(`${wholeFolder}/${mapPath}`);
  return { ...map, sources: map.sources.map((source) => path.posix.relative(from, path.posix.join(seenFolder, source))) };
}

interface ManifestChange {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly entrypoint?: string | undefined;
  readonly secrets?: readonly string[];
  /** Variables that are added to `env` in the manifest. They replace variables with the same name. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Returns the plan with a changed manifest. Comments in the manifest are preserved. Creates a manifest if the package has none. Writes the
 * manifest below `directory`.
 */
export async function withManifest(plan: PackPlan, directory: string, change: ManifestChange): Promise<PackPlan> {
  const { env = {}, ...fields } = change;
  const { file, document } = readManifestOf(plan);
  const changed = Object.entries(fields).filter(([key, value]) => value !== undefined && value !== document.get(key));
  if (changed.length === 0 && Object.keys(env).length === 0) return plan;
  for (const [key, value] of changed) document.set(key, value);
  for (const [variable, value] of Object.entries(env)) document.setIn(["env", variable], value);
  const content = document.toString({ lineWidth: 0 });
  return withFiles(plan, [await writtenFile(directory, { path: file, content, rule: "the manifest, adapted" })]);
}

/** Returns the manifest that the archive will contain, with the changes made so far. Returns an empty manifest if the package has none. */
export function readManifestOf({ facts, files }: PackPlan): { file: string; document: yaml.Document } {
  const name = facts.metadataFiles.find((file) => file.startsWith("manifest.")) ?? "manifest.yaml";
  const packed = files.find((file) => file.path === name);
  const document: yaml.Document = yaml.parseDocument((packed && readFileIfThere(packed.source)) ?? "");
  // Sets an empty map with the schema of the YAML document in an empty document, so that nested keys can be set.
  document.contents ??= document.createNode({});
  return { file: name, document };
}

/** Writes a generated file below `directory` and returns its entry for the plan. */
export async function writtenFile(
  directory: string,
  { path: name, content, rule }: { path: string; content: string; rule: string },
): Promise<PackedFile> {
  const source = path.join(directory, name);
  await mkdir(path.dirname(source), { recursive: true });
  await writeFile(source, content);
  return { path: name, source, sizeBytes: Buffer.byteLength(content), rule };
}
