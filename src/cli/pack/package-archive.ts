import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import path from "node:path";
import type { UploadSource } from "../../shared/contract/endpoint.js";
import { formatSize } from "../../shared/size.js";
import { usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { withProgress } from "../output/progress.js";
import { archiveName, writeArchive, type Archive, type WrittenArchive } from "./write-archive.js";
import { readArchiveContent } from "./archive-content.js";
import { locatePackage } from "./locate-package.js";
import { planPack, type PackedFile, type PackPlan } from "./pack-plan.js";
import { archiveSource, readPackageInfo, type PackageKind } from "./package-info.js";
import { planBundle, type BundleOptions } from "./bundle-plan.js";
import { temporaryFolder } from "./temporary-folder.js";

interface BundledFolder extends BundleOptions {
  readonly folder: string;
  readonly directory: string;
}

/** An archive that is ready for the upload, with the plan that lists the packed files. */
export interface PackageArchive extends Archive {
  readonly file: string;
  readonly filename: string;
  /** The files in the archive. Undefined if an existing archive could not be read on this machine. */
  readonly plan: PackPlan | undefined;
}

/** The fields that describe the archive in the JSON documents of upload commands. */
export const archiveFields = ["sizeBytes", "sha256", "dryRun", "entrypoint", "pluginEntry", "unpackedBytes", "files", "leftOut"] as const;

/** Packs a folder, or opens an existing archive. When the command ends, the archive is deleted if this function has packed it. */
export async function createArchive(
  context: Context,
  source: string,
  { kind, bundle = false, externals = [] }: { kind: PackageKind; bundle?: boolean; externals?: readonly string[] },
): Promise<PackageArchive> {
  const { path: given, isFolder } = await locatePackage(context, source);
  if (bundle && !isFolder) throw usageError("--bundle cannot be used with an archive, because an archive is uploaded unchanged");
  if (!isFolder) return { plan: await planArchive(given, kind), ...(await takeArchive(given)) };
  const directory = await temporaryFolder(context);
  const plan = bundle ? await planBundled(context, { folder: given, directory, externals }) : await planPack(given, { kind });
  return { plan, ...(await packFolder(context, plan, directory)) };
}

/** Prints the size of the archive, and a warning for each excluded link. */
export function describeArchive({ output }: Context, { facts, files, links }: PackPlan, { sizeBytes }: Archive): void {
  output.note(`${facts.name}@${facts.version}: ${files.length} files, ${formatSize(sizeBytes)} packed`);
  for (const link of links) output.warn(`${link.path} is excluded: ${link.rule}`);
}

/** Uploads the archive and shows a progress bar. */
export async function sendArchive<Result>(
  context: Context,
  packageArchive: PackageArchive,
  upload: (source: UploadSource) => Promise<Result>,
): Promise<Result> {
  return withProgress(
    context,
    { label: `uploading ${packageArchive.filename}`, totalBytes: packageArchive.sizeBytes, afterwards: "installing" },
    (onBytes) => upload(uploadSource(packageArchive, onBytes)),
  );
}

/** Returns the archive as an upload source. After each chunk that the upload reads, calls `onBytes` with the size of the chunk. */
export function uploadSource({ file, filename, sizeBytes }: PackageArchive, onBytes: (count: number) => void): UploadSource {
  return { filename, sizeBytes, bytes: counted(file, onBytes) };
}

/** Plans a bundled archive as `planBundle` does, and prints the warnings of the compiler. */
export async function planBundled({ output }: Context, { folder, directory, ...options }: BundledFolder): Promise<PackPlan> {
  const plan = await planBundle(folder, path.join(directory, "made"), options);
  for (const warning of plan.warnings) output.warn(warning);
  return plan;
}

/** Writes the archive with `writeArchive` and shows a progress bar. */
export function packWithProgress(context: Context, files: readonly PackedFile[], target: string): Promise<WrittenArchive> {
  const totalBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  return withProgress(context, { label: "packing", totalBytes }, (onBytes) => writeArchive(files, target, context.signal, onBytes));
}

async function packFolder(context: Context, { facts, files }: PackPlan, directory: string): Promise<Omit<PackageArchive, "plan">> {
  const file = path.join(directory, "package.tgz");
  return { file, filename: archiveName(facts), ...(await packWithProgress(context, files, file)) };
}

/** Returns the plan of an existing archive. Undefined if runtimectl cannot read the archive. */
async function planArchive(file: string, kind: PackageKind): Promise<PackPlan | undefined> {
  const content = await readArchiveContent(file);
  if (content === undefined) return undefined;
  const facts = await readPackageInfo(archiveSource(path.basename(file), content), kind);
  return { facts, files: content.files.map((entry) => ({ ...entry, source: file, rule: "in the archive" })), leftOut: [], links: [] };
}

async function takeArchive(file: string): Promise<Omit<PackageArchive, "plan">> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { file, filename: path.basename(file), sizeBytes, sha256: hash.digest("hex") };
}

/**
 * Yields the chunks of a file. Opens the file when the first chunk is read, so that no file stays open if the request is rejected before.
 */
async function* counted(file: string, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    yield chunk;
    onBytes(chunk.length);
  }
}
