import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { installationFileName } from "../../shared/installation-file-name.js";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import { parseManifestFields } from "./manifest-fields.js";
import { metadataProblem } from "./package-metadata.js";
import type { StoredVersion } from "./package-store.js";
import type { Transaction } from "./transactions/transaction.js";
import type { FoundVersion } from "./worker-folders.js";

/** Parsed manifests by the JSON text of their fields. Thousands of versions have only a few different manifests. */
export type ParsedManifests = Map<string, WorkerManifest>;

const mostParsedManifests = 1_000;

/**
 * Returns the digest of the archive from which a version folder was unpacked. Returns undefined for a missing folder, and for a folder that
 * was copied by hand.
 */
export function digestOfFolder(folder: string): string | undefined {
  const file = path.join(folder, installationFileName);
  // Checks first whether the file exists. Most versions of a large index are not downloaded, and the error of a missing file takes 10 times
  // as long as this check.
  if (!existsSync(file)) return undefined;
  try {
    const { digest } = JSON.parse(readFileSync(file, "utf8")) as { digest?: unknown };
    return typeof digest === "string" ? digest : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Removes the digest from the record of an installed folder, if it has one. The files then no longer count as those of an archive, so that a
 * later upload of the same archive replaces them.
 */
export async function forgetDigest(staged: Transaction, folder: string): Promise<void> {
  if (digestOfFolder(folder) === undefined) return;
  const file = path.join(folder, installationFileName);
  const { digest: _, ...installation } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  await staged.writeFile(file, `${JSON.stringify(installation)}\n`);
}

/**
 * Returns the versions of a worker folder: the versions on the disk, and the versions of the index, even before their download. `enabled`
 * of the index has precedence. A download does not change the `identity` of a version.
 */
export function withStoredVersions(
  workerFolder: string,
  found: readonly FoundVersion[],
  stored: readonly StoredVersion[],
  parsedManifests: ParsedManifests,
): readonly FoundVersion[] {
  const versions = stored.map((version): FoundVersion => {
    const folder = path.join(workerFolder, version.version);
    const digest = digestOfFolder(folder);
    const onDisk = digest === undefined ? undefined : found.find((each) => each.folder === folder);
    const { enabled } = version;
    const identity = `${digest ?? version.digest} ${enabled}`;
    return onDisk ? { ...onDisk, enabled, identity } : { ...asFound(version, parsedManifests), folder, identity };
  });
  const folders = new Set(versions.map(({ folder }) => folder));
  const others = found.filter(({ folder }) => !folders.has(folder)).map((each) => ({ ...each, isLocal: true }));
  return [...others, ...versions];
}

/**
 * Returns the parsed manifest. To save memory, versions with the same fields share one object, because a parsed manifest also contains all
 * defaults. Throws for invalid fields.
 */
function manifestOf(fields: StoredVersion["fields"], parsedManifests: ParsedManifests): WorkerManifest {
  const text = JSON.stringify(fields);
  const known = parsedManifests.get(text);
  if (known) return known;
  const manifest = parseManifestFields(WorkerManifest, fields);
  if (parsedManifests.size >= mostParsedManifests) parsedManifests.clear();
  parsedManifests.set(text, manifest);
  return manifest;
}

function asFound(
  { name, version, enabled, fields, deployment, installation }: StoredVersion,
  parsedManifests: ParsedManifests,
): Omit<FoundVersion, "folder" | "identity"> {
  const known = { name, version, enabled, ...(deployment && { deployment }), ...(installation && { installation }) };
  try {
    return { ...known, manifest: manifestOf(fields, parsedManifests) };
  } catch (error) {
    return { ...known, manifest: WorkerManifest.parse({}), problem: metadataProblem(error) };
  }
}
