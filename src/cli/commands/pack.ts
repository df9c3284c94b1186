import { randomUUID } from "node:crypto";
import { rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { latestVersion } from "../../shared/package-name.js";
import { formatSize } from "../../shared/size.js";
import { CommandError, usageError } from "../command/command-error.js";
import { defineCommand, type Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { parseDeployOptions } from "../deploy/deploy-options.js";
import { withManifest } from "../pack/bundle-plan.js";
import { archiveName, writeArchive, type WrittenArchive } from "../pack/write-archive.js";
import { looksSecret } from "../../shared/packing/looks-secret.js";
import { locatePackage } from "../pack/locate-package.js";
import type { PackPlan } from "../pack/pack-plan.js";
import type { PackageKind } from "../pack/package-info.js";
import { openPackage } from "../pack/open-package.js";
import { showFiles } from "../pack/show-plan.js";
import { temporaryFolder } from "../pack/temporary-folder.js";

interface Options {
  readonly out?: string;
  readonly list?: boolean;
  readonly dryRun?: boolean;
  readonly kind?: PackageKind;
  readonly name?: string;
  readonly version?: string;
}

export const command = defineCommand<[source: string], Options>({
  arguments: [{ syntax: "[path]", description: "The folder to pack (default: .)", default: "." }],
  options: [
    { flags: "-o, --out <file>", description: "Write the archive to this file (default: NAME-VERSION.tgz)" },
    { flags: "-n, --dry-run", description: "Same as --list" },
    { flags: "--list", description: "List every file with its size and the rule that included or excluded it; write nothing" },
    { flags: "--kind <kind>", description: "Override the package kind that the manifest implies", choices: ["worker", "plugin"] },
    { flags: "--name <name>", description: "Override the name in the manifest" },
    { flags: "--version <version>", description: "Override the version in the manifest" },
  ],
  fields: ["file", "name", "version", "files", "sizeBytes", "unpackedBytes", "sha256", "digest"],
  examples: [
    ["runtimectl pack", "write the archive and print its SHA-256"],
    ["runtimectl pack ./dir --list", "list included and excluded files with the reason"],
    ["runtimectl pack --version 1.2.0", "write the archive of another version; the folder stays unchanged"],
    ["runtimectl pack ./dir -o app.tgz | sha256sum -c", "verify the written archive"],
  ],
  notes:
    "The same content produces the same bytes: location, times and modes of the folder do not matter.\n" +
    "File selection: .runtimeignore if it exists, else files in package.json, else .gitignore, except in the folders of entrypoint and assets.\n" +
    "node_modules is included, without packages that only devDependencies need. Excluded if the code in a folder below imports none of its packages, or by .runtimeignore.\n" +
    "Always included: manifest, package.json, entrypoint. Always excluded: .git, .env*, .dev.vars*, *.pem, id_*, .npmrc, .runtimectl.yaml, temporary editor files.\n" +
    "Archives that pack wrote into the folder are excluded.",
  async run(context, [source], { out, dryRun = false, list = dryRun, kind, ...given }) {
    const { identity } = parseDeployOptions(given);
    const folder = await findFolder(context, source);
    if (list && out !== undefined)
      throw usageError("-o cannot be used with --list or --dry-run, which write nothing", "remove one of the flags");
    const workspace = await temporaryFolder(context);
    const opened = await openPackage(context, source, kind);
    const planned = await opened.plan({ identity });
    const plan = await withManifest(planned, path.join(workspace, "made"), identity);
    warnOfSecrets(context, plan);
    const { name, version, hasDeclaredVersion } = plan.facts;
    const isUnversioned = opened.kind === "worker" && !hasDeclaredVersion && version === latestVersion;
    const label = isUnversioned ? name : `${name}@${version}`;
    if (isUnversioned) context.output.note("the archive has no version: deploy assigns one, and workers upload installs it as latest");
    if (list) {
      const archive = await writeArchive(plan.files, path.join(workspace, "package.tgz"), context.signal);
      return showFiles(context.output, plan, archive, { document: {}, label, note: "nothing was written" });
    }
    const target = path.resolve(context.workingDirectory, out ?? archiveName(plan.facts));
    await refuseTarget(target, { plan, folder, isChosen: out !== undefined });
    const { sizeBytes, sha256, digest } = await writeWhole(context, plan, target);
    const unpackedBytes = plan.files.reduce((sum, file) => sum + file.sizeBytes, 0);
    context.output.note(`${label}: ${plan.files.length} files, ${formatSize(unpackedBytes)}, ${formatSize(sizeBytes)} packed`);
    context.output.result(
      { file: target, name, version, files: plan.files.length, sizeBytes, unpackedBytes, sha256, digest },
      `${sha256}  ${path.relative(context.workingDirectory, target)}`,
    );
  },
});

async function findFolder(context: Context, given: string): Promise<string> {
  const located = await locatePackage(context, given);
  if (located.isFolder) return located.path;
  throw usageError(`${given} is already an archive; pack accepts only a folder`, `to check the archive: runtimectl validate ${given}`);
}

/** Prints a warning for each packed file whose path looks like a secret. */
function warnOfSecrets({ output }: Context, { files }: PackPlan): void {
  for (const file of files)
    if (looksSecret(file.path)) output.warn(`${file.path} looks like a secret; to exclude it, add it to .runtimeignore`);
}

/** Throws an error if the target in `-o` is inside the packed folder, because the next archive would contain the target. */
async function refuseTarget(
  target: string,
  { plan, folder, isChosen }: { plan: PackPlan; folder: string; isChosen: boolean },
): Promise<void> {
  const stats = await stat(target).catch(() => undefined);
  if (stats?.isDirectory())
    throw usageError(
      `${target} is an existing folder, so the archive cannot be written to this path`,
      `-o ${path.join(target, archiveName(plan.facts))}`,
    );
  const inFolder = path.relative(folder, target);
  if (!isChosen || inFolder.startsWith("..") || inFolder === archiveName(plan.facts)) return;
  throw usageError(
    "the archive would be inside the packed folder, so the next archive would contain this archive",
    "use a file outside of the folder, or remove -o",
  );
}

/** Writes the archive atomically: a reader of the target sees either the previous file or the complete archive. */
async function writeWhole(context: Context, plan: PackPlan, target: string): Promise<WrittenArchive> {
  const unfinished = `${target}.${randomUUID().slice(0, 8)}~`;
  try {
    const archive = await writeArchive(plan.files, unfinished, context.signal);
    await rename(unfinished, target);
    return archive;
  } catch (error) {
    await rm(unfinished, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EACCES" && code !== "ENOTDIR" && code !== "EROFS") throw error;
    throw new CommandError("NOT_WRITTEN", `${target} cannot be written (${code})`, {
      exitCode: exitCodes.failed,
      hint: "choose another file with -o",
    });
  }
}
