import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import path from "node:path";
import { isScalar } from "yaml";
import { ApiError } from "../../shared/api-error.js";
import { isPackageName, isPackageVersion, latestVersion } from "../../shared/package-name.js";
import { invalidMetadata, longestManifestBytes, parseManifest } from "./manifest-yaml.js";
import { manifestFileNames } from "./metadata-file-names.js";
import { plainManifest } from "./plain-manifest.js";

/** A package.json lists more than a manifest does. */
const longestPackageJsonBytes = 1024 * 1024;

/** What a package says about itself, whatever kind of package it is. */
export interface PackageMetadata {
  readonly name: string;
  /** Strict semver, or `latest` when no version is declared. */
  readonly version: string;
  readonly enabled: boolean;
  /** The manifest's keys, and those of package.json that the manifest leaves out. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The manifest's keys alone; undefined when there is only package.json. */
  readonly declared: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads manifest.yaml, else manifest.yml, and package.json for what it leaves out; undefined when the folder has none of them.
 * Throws `MISSING_PACKAGE_NAME`, `INVALID_PACKAGE_NAME`, `INVALID_PACKAGE_VERSION` or `INVALID_PACKAGE_METADATA`.
 */
export function readPackageMetadata(folder: string): PackageMetadata | undefined {
  const manifest = readManifest(folder);
  const packageJson = readPackageJson(folder);
  if (!manifest && !packageJson) return undefined;
  const declared = manifest && withoutEmpty(manifest.fields);
  const fields = { ...packageJson, ...declared };
  const name = nameOf(fields);
  return { name, version: versionOf(fields, manifest?.versionText), enabled: enabledOf(fields), fields, declared };
}

/** The text of a file that is a regular one and not too long; undefined when there is none. Links are not followed. */
export function readMetadataText(filePath: string, maxBytes: number): string | undefined {
  const fileName = path.basename(filePath);
  const bytes = readRegularFile(filePath, maxBytes);
  if (!bytes) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw invalidMetadata(fileName, "it is not UTF-8 text", error);
  }
}

function readRegularFile(filePath: string, maxBytes: number): Buffer | undefined {
  const fileName = path.basename(filePath);
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

/** Without waiting for the writer of a named pipe, and without following a link. */
function openIfThere(filePath: string): number | undefined {
  // Most folders lack two of the three files, and an error costs more than all the rest.
  if (!lstatSync(filePath, { throwIfNoEntry: false })) return undefined;
  try {
    return openSync(filePath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw invalidMetadata(path.basename(filePath), code === "ELOOP" ? "it is a link" : `it cannot be read (${code})`, error);
  }
}

function readManifest(folder: string) {
  for (const fileName of manifestFileNames) {
    const text = readMetadataText(path.join(folder, fileName), longestManifestBytes);
    if (text === undefined) continue;
    const plain = plainManifest(text);
    if (plain) return { fields: plain, versionText: undefined };
    const { document, fields } = parseManifest(text, fileName);
    const version = document.get("version", true);
    return { fields, versionText: isScalar(version) ? version.source : undefined };
  }
  return undefined;
}

function readPackageJson(folder: string): Record<string, unknown> | undefined {
  const text = readMetadataText(path.join(folder, "package.json"), longestPackageJsonBytes);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidMetadata("package.json", "it is not valid JSON", error);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidMetadata("package.json", "it is not a JSON object");
  return value as Record<string, unknown>;
}

function withoutEmpty(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function nameOf(fields: Record<string, unknown>): string {
  const name = fields["name"];
  if (typeof name !== "string" || name === "") {
    throw new ApiError(
      "MISSING_PACKAGE_NAME",
      "The package has no name. Add `name: my-app` to its manifest.yaml, or a name to package.json.",
    );
  }
  if (!isPackageName(name)) {
    throw new ApiError(
      "INVALID_PACKAGE_NAME",
      `${JSON.stringify(name.slice(0, 214))} cannot be a package name. Use lower-case letters, digits, dots, dashes and underscores, optionally with @scope/ in front.`,
    );
  }
  return name;
}

function versionOf(fields: Record<string, unknown>, writtenAs: string | undefined): string {
  const version = fields["version"] ?? latestVersion;
  if (typeof version === "number") {
    const written = writtenAs ?? String(version);
    throw new ApiError(
      "INVALID_PACKAGE_VERSION",
      `The version ${written} is a number to YAML, which loses digits. Quote it and write it in full, as in version: "${completed(written)}".`,
    );
  }
  if (typeof version === "string" && isPackageVersion(version)) return version;
  throw new ApiError(
    "INVALID_PACKAGE_VERSION",
    `The version ${(JSON.stringify(version) ?? "").slice(0, 200)} is neither semver, such as 1.4.2, nor latest. Correct it, or leave it out for latest.`,
  );
}

/** `1.10` to `1.10.0`: the version that was probably meant. */
function completed(written: string): string {
  if (!/^\d+(\.\d+)?$/.test(written)) return "1.0.0";
  return written.includes(".") ? `${written}.0` : `${written}.0.0`;
}

function enabledOf(fields: Record<string, unknown>): boolean {
  const enabled = fields["enabled"] ?? true;
  if (typeof enabled === "boolean") return enabled;
  throw new ApiError("INVALID_PACKAGE_METADATA", `enabled is ${JSON.stringify(enabled)}. Write true or false, without quotes.`);
}
