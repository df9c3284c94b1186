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

/** An archive that can be sent, and what is in it. */
export interface PackageArchive extends Archive {
  readonly file: string;
  readonly filename: string;
  /** Undefined for an archive that was ready and that the daemon must judge. */
  readonly plan: PackPlan | undefined;
}

/** What the documents of commands that upload contain about an archive, or of the plan for one. */
export const archiveFields = ["sizeBytes", "sha256", "dryRun", "entrypoint", "pluginEntry", "unpackedBytes", "files", "leftOut"] as const;

/** Packs a folder, or takes an archive as it is. What is packed goes away with the command. */
export async function createArchive(
  context: Context,
  source: string,
  { kind, bundle = false }: { kind: PackageKind; bundle?: boolean },
): Promise<PackageArchive> {
  const { path: given, isFolder } = await locatePackage(context, source);
  if (bundle && !isFolder) throw usageError("--bundle is for folders: an archive goes as it is");
  if (!isFolder) return { plan: await planArchive(given, kind), ...(await takeArchive(given)) };
  const directory = await temporaryFolder(context);
  const plan = bundle ? await planBundled(context, { folder: given, directory }) : await planPack(given, { kind });
  return { plan, ...(await packFolder(context, plan, directory)) };
}

/** What a person would want to know before it is sent. */
export function describeArchive({ output }: Context, { facts, files, links }: PackPlan, { sizeBytes }: Archive): void {
  output.note(`${facts.name}@${facts.version}: ${files.length} files, ${formatSize(sizeBytes)} packed`);
  for (const link of links) output.warn(`${link.path} is left out: ${link.rule}`);
}

/** Has the archive sent by an operation of the client, and shows how far it is. */
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

/** The archive as the client sends it; tells of every piece that goes. */
export function uploadSource({ file, filename, sizeBytes }: PackageArchive, onBytes: (count: number) => void): UploadSource {
  return { filename, sizeBytes, bytes: counted(file, onBytes) };
}

/** Like `planBundle`, and tells what the compiler warns of. */
export async function planBundled({ output }: Context, { folder, directory, ...options }: BundledFolder): Promise<PackPlan> {
  const plan = await planBundle(folder, path.join(directory, "made"), options);
  for (const warning of plan.warnings) output.warn(warning);
  return plan;
}

/** Writes the archive, see `writeArchive`, and shows how far it is. */
export function packWithProgress(context: Context, files: readonly PackedFile[], target: string): Promise<WrittenArchive> {
  const totalBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  return withProgress(context, { label: "packing", totalBytes }, (onBytes) => writeArchive(files, target, context.signal, onBytes));
}

async function packFolder(context: Context, { facts, files }: PackPlan, directory: string): Promise<Omit<PackageArchive, "plan">> {
  const file = path.join(directory, "package.tgz");
  return { file, filename: archiveName(facts), ...(await packWithProgress(context, files, file)) };
}

/** What an archive that is ready would install; undefined for what the daemon must judge. */
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

/** Opens the file when it is asked for its first bytes: of a call that is refused before, nothing is left open. */
async function* counted(file: string, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    yield chunk;
    onBytes(chunk.length);
  }
}
