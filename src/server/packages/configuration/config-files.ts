import { createHash } from "node:crypto";
import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import type { ConfigFault } from "../../../shared/contract/configuration.js";
import { invalidMetadata, longestManifestBytes, readManifest } from "../../../shared/manifest-yaml.js";
import { manifestFileNames } from "../../../shared/metadata-file-names.js";
import { longestBytes, readMetadataText } from "../package-metadata.js";

/** The texts of the two files that configure a package, the manifest and package.json. */
export interface ConfigFiles {
  readonly etag: string;
  /** Name of the manifest file. If the folder has no manifest, the name for a new manifest. */
  readonly fileName: string;
  /** Text of the manifest. Undefined if the folder has no manifest. */
  readonly text: string | undefined;
  readonly packageJson: string | undefined;
}

/** Reads the files without parsing them. Throws INVALID_PACKAGE_METADATA for a file that is a link or too long. */
export function readConfigFiles(folder: string): ConfigFiles {
  const manifests = manifestFileNames.map((fileName) => ({
    fileName,
    text: readMetadataText(path.join(folder, fileName), longestManifestBytes),
  }));
  const packageJson = readMetadataText(path.join(folder, "package.json"), longestBytes("package.json"));
  const { fileName, text } = manifests.find((manifest) => manifest.text !== undefined) ?? {
    fileName: manifestFileNames[0],
    text: undefined,
  };
  const digest = createHash("sha256").update(JSON.stringify([...manifests.map((manifest) => manifest.text ?? null), packageJson ?? null]));
  return { etag: `"${digest.digest("base64url").slice(0, 22)}"`, fileName, text, packageJson };
}

/** Throws PRECONDITION_FAILED if the manifest or package.json has changed since the caller received `etag`. */
export function assertConfigEtag(folder: string, etag: string): void {
  if (readConfigFiles(folder).etag === etag) return;
  throw new ApiError(
    "PRECONDITION_FAILED",
    "The configuration was changed after it was read. Nothing was written. Read the configuration again, then retry.",
  );
}

/**
 * Returns the fields of a manifest text, except fields without a value. For invalid YAML, throws INVALID_PACKAGE_METADATA with each fault
 * and its line number.
 */
export function parseFields(text: string, fileName: string): Record<string, unknown> {
  const { manifest, faults } = readManifest(text);
  if (!manifest) throw changeRejected(faults.map(({ message, offset }) => ({ name: fileName, message, ...lineAt(text, offset) })));
  return Object.fromEntries(Object.entries(manifest.fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Returns the fields of package.json. Returns no fields for a missing or invalid file. */
export function packageJsonFields(text: string | undefined): Record<string, unknown> {
  try {
    const fields: unknown = JSON.parse(text ?? "{}");
    return typeof fields === "object" && fields !== null && !Array.isArray(fields) ? (fields as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Returns the number of the line (from 1) on which a field of a manifest begins. For a missing field, returns the line of the nearest
 * parent that exists.
 */
export function lineOfField(text: string, keys: readonly PropertyKey[]): { line?: number } {
  const { manifest } = readManifest(text);
  if (!manifest) return {};
  for (let length = keys.length; length > 0; length -= 1) {
    const node = manifest.document.getIn(keys.slice(0, length), true) as { range?: readonly [number, number, number] } | undefined;
    if (node?.range) return lineAt(text, node.range[0]);
  }
  return {};
}

function lineAt(text: string, offset: number | undefined): { line?: number } {
  return offset === undefined ? {} : { line: text.slice(0, offset).split("\n").length };
}

/** Returns the error INVALID_PACKAGE_METADATA with at most 50 invalid fields in `details.fields`. */
export function changeRejected(faults: readonly ConfigFault[]): ApiError {
  const sentence = faults
    .slice(0, 5)
    .map(({ name, message, line }) => `${name}: ${message}${line === undefined ? "" : ` (line ${line})`}`)
    .join("; ");
  const { message } = invalidMetadata("The configuration", sentence);
  return new ApiError("INVALID_PACKAGE_METADATA", message, { details: { fields: faults.slice(0, 50) } });
}
