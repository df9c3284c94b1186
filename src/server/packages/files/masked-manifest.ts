import { fstatSync, readSync } from "node:fs";
import { isMap, isScalar, visit, type ParsedNode } from "yaml";
import { parseManifest } from "../../../shared/manifest-yaml.js";
import { metadataFileNames, type MetadataFileName } from "../../../shared/metadata-file-names.js";
import { longestBytes } from "../package-metadata.js";

const mask = "***";
const hidden = "# Only keys that can install packages see this file: its env values cannot be masked.\n";
/** Path segments below a mount of `@scope/name/version/manifest.yaml`. */
const deepestManifest = 4;

/** Returns which metadata file of a package a path below a mount can be; undefined for all other files. */
export function metadataFileAt(below: readonly string[]): MetadataFileName | undefined {
  return below.length > deepestManifest ? undefined : metadataFileNames.find((name) => name === below.at(-1));
}

/** Reads a metadata file and replaces the values of its `env` by `***`. The descriptor stays open. */
export function readMasked(descriptor: number, fileName: MetadataFileName): Buffer {
  const { size } = fstatSync(descriptor);
  // The runtime does not accept a longer file as metadata.
  if (size > longestBytes(fileName)) return Buffer.from(hidden);
  const bytes = Buffer.alloc(size);
  const length = readSync(descriptor, bytes, 0, size, 0);
  return Buffer.from(maskEnv(bytes.toString("utf8", 0, length), fileName));
}

/** Returns the text with masked values of `env`. A text without `env` is unchanged. A note replaces a text that cannot be parsed. */
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
  // The value of an alias is in another place of the text. An alias of an anchor in env cannot be written below, and throws.
  if (place === -1 || hasAlias(value)) return hidden;
  // The whole pair: comments between the values go with them.
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
