import { randomUUID } from "node:crypto";
import { rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { formatSize } from "../../shared/size.js";
import { CommandError, usageError } from "../command/command-error.js";
import { defineCommand, type Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { archiveName, writeArchive, type WrittenArchive } from "../pack/write-archive.js";
import { looksSecret } from "../../shared/packing/looks-secret.js";
import { locatePackage } from "../pack/locate-package.js";
import { planPack, type PackPlan } from "../pack/pack-plan.js";
import { folderSource, type PackageKind } from "../pack/package-info.js";
import { findPackageKind } from "../pack/open-package.js";
import { showFiles } from "../pack/show-plan.js";
import { temporaryFolder } from "../pack/temporary-folder.js";

interface Options {
  readonly out?: string;
  readonly list?: boolean;
  readonly dryRun?: boolean;
  readonly kind?: PackageKind;
}

export const command = defineCommand<[source: string], Options>({
  arguments: [{ syntax: "[path]", description: "The folder (default: .)", default: "." }],
  options: [
    { flags: "-o, --out <file>", description: "Write the archive to this file (default: NAME-VERSION.tgz)" },
    { flags: "-n, --dry-run", description: "The same as --list" },
    { flags: "--list", description: "List every file, its size and the rule that kept or dropped it; write nothing" },
    { flags: "--kind <kind>", description: "What it is, when its manifest does not tell", choices: ["worker", "plugin"] },
  ],
  fields: ["file", "name", "version", "files", "sizeBytes", "unpackedBytes", "sha256", "digest"],
  examples: [
    ["runtimectl pack", "the archive that upload would send, and its SHA-256"],
    ["runtimectl pack ./dir --list", "what goes in, what not, and why"],
    ["runtimectl pack ./dir -o app.tgz | sha256sum -c", "check what was written"],
  ],
  notes:
    "The same content gives the same bytes, wherever the folder lies and whatever its times and modes.\n" +
    "What is packed: see runtimectl workers upload --help. Archives that pack wrote into the folder are never packed themselves.",
  async run(context, [given], { out, dryRun = false, list = dryRun, kind }) {
    const folder = await findFolder(context, given);
    if (list && out !== undefined)
      throw usageError("--list and --dry-run write nothing, so there is no use for -o", "leave out one of them");
    const plan = await planPack(folder, { kind: kind ?? (await findPackageKind(folderSource(folder))) });
    warnOfSecrets(context, plan);
    if (list) {
      const archive = await writeArchive(plan.files, path.join(await temporaryFolder(context), "package.tgz"), context.signal);
      return showFiles(context.output, plan, archive, { document: {}, note: "nothing was written" });
    }
    const target = path.resolve(context.workingDirectory, out ?? archiveName(plan.facts));
    await refuseTarget(target, { plan, folder, isChosen: out !== undefined });
    const { sizeBytes, sha256, digest } = await writeWhole(context, plan, target);
    const { name, version } = plan.facts;
    const unpackedBytes = plan.files.reduce((sum, file) => sum + file.sizeBytes, 0);
    context.output.note(`${name}@${version}: ${plan.files.length} files, ${formatSize(unpackedBytes)}, ${formatSize(sizeBytes)} packed`);
    context.output.result(
      { file: target, name, version, files: plan.files.length, sizeBytes, unpackedBytes, sha256, digest },
      `${sha256}  ${path.relative(context.workingDirectory, target)}`,
    );
  },
});

async function findFolder(context: Context, given: string): Promise<string> {
  const located = await locatePackage(context, given);
  if (located.isFolder) return located.path;
  throw usageError(`${given} is an archive already`, `runtimectl validate ${given}`);
}

/** Warns of what no rule keeps out by itself. */
function warnOfSecrets({ output }: Context, { files }: PackPlan): void {
  for (const file of files) if (looksSecret(file.path)) output.warn(`${file.path} looks like a secret; .runtimeignore leaves it out`);
}

/** An archive in the folder that it is made of would be in the next one. */
async function refuseTarget(
  target: string,
  { plan, folder, isChosen }: { plan: PackPlan; folder: string; isChosen: boolean },
): Promise<void> {
  const stats = await stat(target).catch(() => undefined);
  if (stats?.isDirectory()) throw usageError(`${target} is a folder`, `-o ${path.join(target, archiveName(plan.facts))}`);
  const inFolder = path.relative(folder, target);
  if (!isChosen || inFolder.startsWith("..") || inFolder === archiveName(plan.facts)) return;
  throw usageError(
    "the archive would lie in the folder that is packed, and be in the next one",
    "name a file outside of it, or leave out -o",
  );
}

/** Whoever looks at the target sees the whole archive, or what was there before. */
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
      hint: "name another file by -o",
    });
  }
}
