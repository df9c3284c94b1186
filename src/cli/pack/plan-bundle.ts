import path from "node:path";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import { bundleCode, type SourceMap } from "./bundle-code.js";
import { withFiles, withManifest, writtenFile } from "./edited-manifest.js";
import { planPack, type PackPlan } from "./pack-plan.js";
import type { PackageInfo, PackageIdentity } from "./package-info.js";

/** Where source maps lie in a package: the daemon shows that folder to nobody, not even to the worker. */
const sourceMapsFolder = ".source-maps";
/** In an isolate the worker sees its folder as `app`; all of it lies beside, under the name that it has in an archive. */
const [seenFolder, wholeFolder] = ["app", "package"];
const codePattern = /\.[cm]?[jt]sx?$/;

export interface BundleOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly identity?: PackageIdentity;
}

export interface BundlePlan extends PackPlan {
  readonly warnings: readonly string[];
}

/**
 * Like `planPack`, with the code as one file: no node_modules, the modules that the bundle holds left out, the manifest's entrypoint
 * pointing to it. What is made is written below `directory`.
 */
export async function planBundle(folder: string, directory: string, { env = {}, identity = {} }: BundleOptions = {}): Promise<BundlePlan> {
  const plan = await planPack(folder, { withoutPackages: true, identity });
  const entrypoint = codeOf(plan.facts, folder);
  const output = outputFor(entrypoint, plan);
  const { code, map, inputs, warnings } = await bundleCode(folder, entrypoint, output);
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
      rule: "its source map, served to nobody",
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
  return { ...(await withManifest(withFiles(rest, made), directory, { entrypoint: output, env })), warnings };
}

function codeOf({ entrypoint }: PackageInfo, folder: string): string {
  if (entrypoint !== undefined && codePattern.test(entrypoint)) return entrypoint;
  throw new CommandError(
    "NOTHING_TO_BUNDLE",
    entrypoint === undefined ? `${folder} has no entrypoint` : `the entrypoint ${entrypoint} is no code`,
    {
      exitCode: exitCodes.failed,
      hint: "name the JavaScript or TypeScript module in the manifest, such as entrypoint: src/index.ts; a page goes without --bundle",
    },
  );
}

/** Beside the entrypoint, so that it finds its files, and a module whatever package.json says. */
function outputFor(entrypoint: string, { files }: PackPlan): string {
  const output = entrypoint.replace(codePattern, ".mjs");
  const isTaken = output !== entrypoint && files.some((file) => file.path === output);
  return isTaken ? output.replace(/\.mjs$/, ".bundle.mjs") : output;
}

/** Sources as they resolve from where the map lies to where the worker's files would be. */
function placed(map: SourceMap, mapPath: string): SourceMap {
  const from = path.posix.dirname(`${wholeFolder}/${mapPath}`);
  return { ...map, sources: map.sources.map((source) => path.posix.relative(from, path.posix.join(seenFolder, source))) };
}
