import { createHash } from "node:crypto";
import { createReadStream, rmSync } from "node:fs";
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { UploadSource } from "../../shared/contract/endpoint.js";
import { formatSize } from "../../shared/size.js";
import { CommandError, usageError } from "../command-error.js";
import type { Context } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { withProgress } from "../progress.js";
import { readArchiveContent } from "./archive-content.js";
import { planPack, type PackPlan } from "./pack-plan.js";
import { archiveSource, readPackageFacts, type PackageKind } from "./package-facts.js";
import { planBundle } from "./plan-bundle.js";
import { archiveName, writeArchive, type Archive } from "./write-archive.js";

/** An archive that can be sent, and what is in it. */
export interface Parcel extends Archive {
  readonly file: string;
  readonly filename: string;
  /** Undefined for an archive that was ready and that the daemon must judge. */
  readonly plan: PackPlan | undefined;
}

/** Packs a folder, or takes an archive as it is. What is packed goes away with the command. */
export async function makeParcel(
  context: Context,
  source: string,
  { kind, bundle = false }: { kind: PackageKind; bundle?: boolean },
): Promise<Parcel> {
  const given = path.resolve(context.workingDirectory, source);
  const stats = await stat(given).catch(() => undefined);
  if (stats === undefined) throw new CommandError("PATH_NOT_FOUND", `${source} is not there`, { exitCode: exitCodes.notFound });
  if (bundle && !stats.isDirectory()) throw usageError("--bundle is for folders: an archive goes as it is");
  if (!stats.isDirectory()) return { plan: await planArchive(given, kind), ...(await takeArchive(given)) };
  const directory = await temporaryFolder(context);
  const plan = bundle ? await planBundled(context, given, directory) : await planPack(given, { kind });
  return { plan, ...(await packFolder(context, plan, directory)) };
}

/** What a person would want to know before it is sent. */
export function describeParcel({ output }: Context, { facts, files, links }: PackPlan, { sizeBytes }: Archive): void {
  output.note(`${facts.name}@${facts.version}: ${files.length} files, ${formatSize(sizeBytes)} packed`);
  for (const link of links) output.warn(`${link.path} is left out: ${link.rule}`);
}

/** Has the parcel sent by an operation of the client, and shows how far it is. */
export async function sendParcel<Result>(
  context: Context,
  { file, filename, sizeBytes }: Parcel,
  upload: (source: UploadSource) => Promise<Result>,
): Promise<Result> {
  return withProgress(context, { label: `uploading ${filename}`, totalBytes: sizeBytes }, (onBytes) =>
    upload({ filename, sizeBytes, bytes: counted(createReadStream(file), onBytes) }),
  );
}

/** Private, and goes away with the command. */
async function temporaryFolder(context: Context): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimectl-"));
  context.onExit(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function planBundled({ output }: Context, folder: string, directory: string): Promise<PackPlan> {
  const plan = await planBundle(folder, path.join(directory, "made"));
  for (const warning of plan.warnings) output.warn(warning);
  return plan;
}

async function packFolder(context: Context, { facts, files }: PackPlan, directory: string): Promise<Omit<Parcel, "plan">> {
  const file = path.join(directory, "package.tgz");
  return { file, filename: archiveName(facts), ...(await writeArchive(files, file, context.signal)) };
}

/** What an archive that is ready would install; undefined for zips, and for what the daemon must judge. */
async function planArchive(file: string, kind: PackageKind): Promise<PackPlan | undefined> {
  if (!/\.(?:tgz|tar\.gz|zip)$/i.test(file))
    throw usageError(`${path.basename(file)} is neither a folder nor an archive`, "archives end in .tgz, .tar.gz or .zip");
  const content = file.toLowerCase().endsWith(".zip") ? undefined : await readArchiveContent(file);
  if (content === undefined) return undefined;
  const facts = await readPackageFacts(archiveSource(path.basename(file), content), kind);
  return { facts, files: content.files.map((entry) => ({ ...entry, source: file, rule: "in the archive" })), leftOut: [], links: [] };
}

async function takeArchive(file: string): Promise<Omit<Parcel, "plan">> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { file, filename: path.basename(file), sizeBytes, sha256: hash.digest("hex") };
}

async function* counted(source: AsyncIterable<Buffer>, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    yield chunk;
    onBytes(chunk.length);
  }
}
