import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import path from "node:path";
import { isScalar } from "yaml";
import { invalidMetadata, longestManifestBytes, parseManifest } from "../../shared/manifest-yaml.js";
import { enabledOf, nameOf, versionOf, type PackageMetadata } from "../../shared/package-metadata.js";
import { manifestFileNames, type MetadataFileName } from "../../shared/metadata-file-names.js";
import { plainManifest } from "./plain-manifest.js";
import { ApiError } from "../../shared/api-error.js";

/** Maximum size in bytes of package.json. The limit is higher than the limit of a manifest, because package.json contains more fields. */
const longestPackageJsonBytes = 1024 * 1024;

/**
 * Reads manifest.yaml or manifest.yml. Takes missing fields from package.json. Returns undefined if neither file exists. Throws
 * MISSING_PACKAGE_NAME, INVALID_PACKAGE_NAME, INVALID_PACKAGE_VERSION or INVALID_PACKAGE_METADATA.
 */
export function readPackageMetadata(folder: string): PackageMetadata | undefined {
  return parsePackageMetadata((fileName) => readMetadataText(path.join(folder, fileName), longestBytes(fileName)));
}

/** Returns the sentence that lists show for a package whose metadata cannot be used. */
export function metadataProblem(error: unknown): string {
  return error instanceof ApiError ? error.message : "The metadata of the package cannot be read.";
}

/** Parses the metadata of a package like `readPackageMetadata`, but receives the text of each file from `textOf`. */
export function parsePackageMetadata(textOf: (fileName: MetadataFileName) => string | undefined): PackageMetadata | undefined {
  const manifest = readManifest(textOf);
  const packageJson = readPackageJson(textOf);
  if (!manifest && !packageJson) return undefined;
  const declared = manifest && withoutEmpty(manifest.fields);
  const fields = { ...packageJson, ...declared };
  const name = nameOf(fields);
  return { name, version: versionOf(fields, manifest?.versionText), enabled: enabledOf(fields), fields, declared };
}

/**
 * Returns the text of a regular file, or undefined if the file is missing. For a link or a file of more than `maxBytes`, throws
 * INVALID_PACKAGE_METADATA with `fileName` in the message.
 */
export function readMetadataText(filePath: string, maxBytes: number, fileName = path.basename(filePath)): string | undefined {
  const bytes = readRegularFile(filePath, maxBytes, fileName);
  if (!bytes) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw invalidMetadata(fileName, "it is not UTF-8 text", error);
  }
}

function readRegularFile(filePath: string, maxBytes: number, fileName: string): Buffer | undefined {
  const file = openIfThere(filePath);
  if (file === undefined) return undefined;
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw invalidMetadata(fileName, "it is not a file");
    if (stat.size > maxBytes) throw invalidMetadata(fileName, `it is longer than ${maxBytes / 1024} KiB`);
    const bytes = Buffer.alloc(stat.size);
    return bytes.subarray(0, readSync(file, bytes, 0, stat.size, 0));
  } finally {
    closeSync(file);
  }
}

/** Opens a file. Returns undefined if the file is missing. A link causes an error, and a named pipe without a writer does not block. */
function openIfThere(filePath: string): number | undefined {
  // Checks first whether the file exists. Most package folders lack two of the three metadata files, and an exception for each of them
  // would take most of the time.
  if (!lstatSync(filePath, { throwIfNoEntry: false })) return undefined;
  try {
    return openSync(filePath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw invalidMetadata(path.basename(filePath), code === "ELOOP" ? "it is a link" : `it cannot be read (${code})`, error);
  }
}

/** Returns the maximum size of a metadata file in bytes. */
export function longestBytes(fileName: MetadataFileName): number {
  return fileName === "package.json" ? longestPackageJsonBytes : longestManifestBytes;
}

function readManifest(textOf: (fileName: MetadataFileName) => string | undefined) {
  for (const fileName of manifestFileNames) {
    const text = textOf(fileName);
    if (text === undefined) continue;
    const plain = plainManifest(text);
    if (plain) return { fields: plain, versionText: undefined };
    const { document, fields } = parseManifest(text, fileName);
    const version = document.get("version", true);
    return { fields, versionText: isScalar(version) ? version.source : undefined };
  }
  return undefined;
}

function readPackageJson(textOf: (fileName: MetadataFileName) => string | undefined): Record<string, unknown> | undefined {
  const text = textOf("package.json");
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec((error as Error).message) ?? [];
    throw invalidMetadata("package.json", `it is not valid JSON${line === undefined ? "" : ` (line ${line}, column ${column})`}`, error);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidMetadata("package.json", "it is not a JSON object");
  return value as Record<string, unknown>;
}

function withoutEmpty(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Throws 400 INVALID_PACKAGE_NAME if the daemon itself serves the path with this name. */
export function refuseReservedName(name: string, reservedNames: ReadonlySet<string>): void {
  if (!reservedNames.has(name)) return;
  throw new ApiError("INVALID_PACKAGE_NAME", `The name ${name} is reserved for the daemon. Give the package another name.`);
}
