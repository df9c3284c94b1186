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

/** Folder of a package that contains the source maps. The daemon does not serve this folder, and the worker cannot read it. */
const sourceMapsFolder = ".source-maps";
/**
 * Names of two folders that an isolate can read: `app` contains the worker's files, and `package` contains the complete package with the
 * source maps.
 */
const [seenFolder, wholeFolder] = ["app", "package"];
const codePattern = /\.[cm]?[jt]sx?$/;

export interface BundleOptions extends Pick<PackOptions, "source" | "only" | "added"> {
  readonly identity?: PackageIdentity;
  /** Names of packages that the bundle does not contain. The archive contains them in node_modules, with their dependencies. */
  readonly externals?: readonly string[];
}

interface BundlePlan extends PackPlan {
  readonly warnings: readonly string[];
}

/**
 * Plans an archive whose code is bundled into one file. The archive contains neither node_modules nor the bundled modules. The bundle
 * becomes the entrypoint in the manifest. Writes generated files below `directory`.
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
 * Returns the path of the bundle. The bundle is in the folder of the entrypoint, so that relative file paths stay valid. Its extension is
 * `.mjs`, so that Node.js loads it as an ES module.
 */
function outputFor(entrypoint: string, { files }: PackPlan): string {
  const output = entrypoint.replace(codePattern, ".mjs");
  const isTaken = output !== entrypoint && files.some((file) => file.path === output);
  return isTaken ? output.replace(/\.mjs$/, ".bundle.mjs") : output;
}

/** Returns the source map with source paths that are relative to the location of the source map in the isolate. */
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
  /** Variables to add to `env` in the manifest. They replace existing variables with the same name. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Returns the plan with a changed manifest, which is written below `directory`. Preserves comments in the manifest. If the package has no
 * manifest, creates one.
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

/** Returns the manifest that the archive will contain, with all changes so far. If the package has no manifest, returns an empty one. */
export function readManifestOf({ facts, files }: PackPlan): { file: string; document: yaml.Document } {
  const name = facts.metadataFiles.find((file) => file.startsWith("manifest.")) ?? "manifest.yaml";
  const packed = files.find((file) => file.path === name);
  const document: yaml.Document = yaml.parseDocument((packed && readFileIfThere(packed.source)) ?? "");
  // Adds an empty map to an empty YAML document, because nested fields can be set only in a map of the document's schema.
  document.contents ??= document.createNode({});
  return { file: name, document };
}

/** Writes a generated file below `directory` and returns the file as an entry of a plan. */
export async function writtenFile(
  directory: string,
  { path: name, content, rule }: { path: string; content: string; rule: string },
): Promise<PackedFile> {
  const source = path.join(directory, name);
  await mkdir(path.dirname(source), { recursive: true });
  await writeFile(source, content);
  return { path: name, source, sizeBytes: Buffer.byteLength(content), rule };
}
