import { fstatSync, readSync } from "node:fs";
import { isMap, isScalar, visit, type ParsedNode } from "yaml";
import { parseManifest } from "../../../shared/manifest-yaml.js";
import { metadataFileNames, type MetadataFileName } from "../../../shared/metadata-file-names.js";
import { longestBytes } from "../package-metadata.js";

const mask = "***";
const hidden = "# Only keys that can install packages see this file: its env values cannot be masked.\n";
/** Maximum number of path segments of a metadata file below a mount: `@scope/name/version/manifest.yaml`. */
const deepestManifest = 4;

/** Returns the file name if the path can be the metadata file of a package. Returns undefined for every other path. */
export function metadataFileAt(below: readonly string[]): MetadataFileName | undefined {
  return below.length > deepestManifest ? undefined : metadataFileNames.find((name) => name === below.at(-1));
}

/** Reads a metadata file and returns the text with `***` in place of the values of `env`. The descriptor stays open. */
export function readMasked(descriptor: number, fileName: MetadataFileName): Buffer {
  const { size } = fstatSync(descriptor);
  // Hides a file that is too long to be metadata, because the daemon does not parse it.
  if (size > longestBytes(fileName)) return Buffer.from(hidden);
  const bytes = Buffer.alloc(size);
  const length = readSync(descriptor, bytes, 0, size, 0);
  return Buffer.from(maskEnv(bytes.toString("utf8", 0, length), fileName));
}

/**
 * Returns a metadata text with `***` in place of the values of `env`. Returns a text without `env` unchanged. If the text cannot be parsed,
 * returns a note instead.
 */
export function maskEnv(text: string, fileName: MetadataFileName): string {
  try {
    return fileName === "package.json" ? maskJson(text) : maskYaml(text, fileName);
  } catch {
    return hidden;
  }
}

function maskJson(text: string): string {
  const fields = JSON.parse(text) as Record<string, unknown>;
  if (!Object.hasOwn(fields, "env")) return text;
  return `${JSON.stringify({ ...fields, env: maskedValues(fields["env"]) }, undefined, 2)}\n`;
}

function maskYaml(text: string, fileName: string): string {
  const { document, fields } = parseManifest(text, fileName);
  if (!Object.hasOwn(fields, "env")) return text;
  const { contents } = document;
  if (!isMap(contents)) return hidden;
  const place = contents.items.findIndex(({ key }) => isScalar(key) && key.value === "env");
  const value = contents.items[place]?.value;
  // Hides the whole text if `env` contains a YAML alias, because the value of an alias is elsewhere in the text. If an alias elsewhere
  // refers to an anchor in `env`, the serialization throws.
  if (place === -1 || hasAlias(value)) return hidden;
  // Replaces the key `env` with all its values, because a comment between the values could contain a secret.
  contents.items[place] = document.createPair<ParsedNode, ParsedNode>("env", maskedValues(fields["env"]));
  return document.toString({ lineWidth: 0 });
}

function hasAlias(node: ParsedNode | null | undefined): boolean {
  let isFound = false;
  if (node) visit(node, { Alias: () => void (isFound = true) });
  return isFound;
}

function maskedValues(env: unknown): unknown {
  if (typeof env !== "object" || env === null || Array.isArray(env)) return mask;
  return Object.fromEntries(Object.keys(env).map((name) => [name, mask]));
}
