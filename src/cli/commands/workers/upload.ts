import { createHash } from "node:crypto";
import { createReadStream, rmSync } from "node:fs";
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { list, upload } from "../../../shared/contract/workers.js";
import { latestVersion } from "../../../shared/package-name.js";
import { formatSize } from "../../../shared/size.js";
import { CommandError, usageError } from "../../command-error.js";
import { defineCommand, type Context } from "../../command.js";
import { connect, type Connection } from "../../connection.js";
import { readArchiveContent } from "../../pack/archive-content.js";
import { planPack, type PackPlan } from "../../pack/pack-plan.js";
import { planBundle } from "../../pack/plan-bundle.js";
import { archiveSource, readPackageFacts } from "../../pack/package-facts.js";
import { archiveName, writeArchive, type Archive } from "../../pack/write-archive.js";
import { exitCodes } from "../../exit-codes.js";
import { showPlan } from "./show-plan.js";
import { answeringUrl } from "./answering-url.js";
import { withProgress } from "../../progress.js";

interface Options {
  readonly dryRun?: boolean;
  readonly bundle?: boolean;
}

interface Parcel extends Archive {
  readonly file: string;
  readonly filename: string;
}

export const command = defineCommand<[source: string], Options>({
  arguments: [{ syntax: "[path]", description: "A folder, or a .tgz, .tar.gz or .zip that is ready (default: .)", default: "." }],
  options: [
    { flags: "--bundle", description: "Make one file of the code and what it imports, and leave node_modules out" },
    { flags: "--dry-run", description: "List every file, its size and the rule that kept or dropped it; upload nothing" },
  ],
  examples: [
    ["runtimectl workers upload ./dir", "pack the folder, upload it, print the URL that answers"],
    ["runtimectl workers upload ./dir --dry-run", "what would go, what not, and why"],
    ["runtimectl workers upload ./dir --bundle", "JavaScript or TypeScript with dependencies, as one file"],
    ["runtimectl workers upload app-1.2.0.tgz", "an archive as it is, such as npm pack makes"],
  ],
  notes:
    "Same name and version replaces what is there.\n" +
    "What is packed: by .runtimeignore if there is one, else by files of package.json, else by .gitignore except in the entrypoint's folder.\n" +
    "node_modules is packed without what only devDependencies need, whatever files and .gitignore say; .runtimeignore alone can leave it out.\n" +
    "Always in: manifest, package.json, entrypoint. Always out: .git, .env*, .dev.vars*, *.pem, id_*, .npmrc, .runtimectl.yaml, editor litter.\n" +
    "--bundle keeps a source map for stack traces, which no client can fetch; tsconfig.json counts as esbuild reads it.\n" +
    "A file that holds an API key stops the upload. Links are packed as what they lead to, never from outside the folder.",
  async run(context, [source], options) {
    const given = path.resolve(context.workingDirectory, source);
    const stats = await stat(given).catch(() => undefined);
    if (stats === undefined) throw new CommandError("PATH_NOT_FOUND", `${source} is not there`, { exitCode: exitCodes.notFound });
    const isFolder = stats.isDirectory();
    if (options.bundle && !isFolder) throw usageError("--bundle is for folders: an archive goes as it is");
    const directory = await temporaryFolder(context);
    const plan = isFolder ? await planFolder(context, given, { directory, bundle: options.bundle ?? false }) : await planArchive(given);
    const parcel = isFolder && plan ? await packFolder(context, plan, directory) : await takeArchive(given);
    if (options.dryRun) return showPlan(context.output, plan, parcel);
    if (plan) advise(context, plan, parcel);
    const connection = await connect(context, { workers: { list, upload } });
    const { worker } = await send(context, connection, parcel);
    const url = await answeringUrl(context, connection, worker);
    context.output.note(`uploaded ${worker.name}@${worker.version}, ${formatSize(parcel.sizeBytes)}; it answers at`);
    context.output.result({ ...worker, url, sizeBytes: parcel.sizeBytes, sha256: parcel.sha256 }, url);
  },
});

/** Private, and goes away with the command. */
async function temporaryFolder(context: Context): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimectl-"));
  context.onExit(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function planFolder(
  { output }: Context,
  folder: string,
  { directory, bundle }: { directory: string; bundle: boolean },
): Promise<PackPlan> {
  if (!bundle) return planPack(folder);
  const plan = await planBundle(folder, path.join(directory, "made"));
  for (const warning of plan.warnings) output.warn(warning);
  return plan;
}

async function packFolder(context: Context, { facts, files }: PackPlan, directory: string): Promise<Parcel> {
  const file = path.join(directory, "package.tgz");
  return { file, filename: archiveName(facts), ...(await writeArchive(files, file, context.signal)) };
}

/** What an archive that is ready would install; undefined for zips, and for what the daemon must judge. */
async function planArchive(file: string): Promise<PackPlan | undefined> {
  if (!/\.(?:tgz|tar\.gz|zip)$/i.test(file))
    throw usageError(`${path.basename(file)} is neither a folder nor an archive`, "archives end in .tgz, .tar.gz or .zip");
  const content = file.toLowerCase().endsWith(".zip") ? undefined : await readArchiveContent(file);
  if (content === undefined) return undefined;
  const facts = await readPackageFacts(archiveSource(path.basename(file), content));
  return { facts, files: content.files.map((entry) => ({ ...entry, source: file, rule: "in the archive" })), leftOut: [], links: [] };
}

async function takeArchive(file: string): Promise<Parcel> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { file, filename: path.basename(file), sizeBytes, sha256: hash.digest("hex") };
}

/** What a person would want to know before it is served. */
function advise({ output }: Context, { facts, files, links }: PackPlan, { sizeBytes }: Parcel): void {
  output.note(`${facts.name}@${facts.version}: ${files.length} files, ${formatSize(sizeBytes)} packed`);
  for (const link of links) output.warn(`${link.path} is left out: ${link.rule}`);
  if (facts.entrypoint === undefined) output.warn("nothing in the folder can be served: there is no index.html, index.js or entrypoint");
  if (facts.version === latestVersion) output.note("no version is declared: it is installed as latest, and replaces the latest before");
}

async function send(context: Context, { client }: Connection<{ workers: { upload: typeof upload } }>, parcel: Parcel) {
  const { data } = await withProgress(context, { label: `uploading ${parcel.filename}`, totalBytes: parcel.sizeBytes }, (onBytes) =>
    client.workers.upload({
      file: { filename: parcel.filename, sizeBytes: parcel.sizeBytes, bytes: counted(createReadStream(parcel.file), onBytes) },
    }),
  );
  return data;
}

async function* counted(source: AsyncIterable<Buffer>, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    yield chunk;
    onBytes(chunk.length);
  }
}
