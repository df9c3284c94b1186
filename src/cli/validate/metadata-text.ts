import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from "yaml";
import { longestManifestBytes, readManifest, type ManifestFault } from "../../shared/manifest-yaml.js";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import type { PackageSource } from "../pack/package-info.js";
import type { Problem } from "./problem.js";

/** A parsed manifest or package.json, with the position of each field in the text. */
export interface MetadataText {
  readonly file: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly document: Document | undefined;
  readonly positionAt: (offset: number | undefined) => Pick<Problem, "line" | "column">;
}

export interface MetadataReading {
  readonly text: MetadataText | undefined;
  readonly problems: readonly Problem[];
}

/** Reads manifest.yaml, or manifest.yml if manifest.yaml does not exist. */
export async function readManifestText(source: PackageSource): Promise<MetadataReading> {
  for (const file of manifestFileNames) {
    const text = await source.read(file);
    if (text === undefined) continue;
    if (Buffer.byteLength(text) > longestManifestBytes)
      return unusable({ file, fields: {}, text }, { message: "it is larger than 64 KiB" });
    const { manifest, faults } = readManifest(text);
    if (!manifest) return unusable({ file, fields: {}, text }, ...faults);
    const fields = Object.fromEntries(Object.entries(manifest.fields).filter(([, value]) => value !== null && value !== undefined));
    return { text: { file, fields, document: manifest.document, positionAt: positionFinder(text) }, problems: [] };
  }
  return { text: undefined, problems: [] };
}

export async function readPackageJsonText(source: PackageSource): Promise<MetadataReading> {
  const file = "package.json";
  const text = (await source.read(file))?.replace(/^\uFEFF/, "");
  if (text === undefined) return { text: undefined, problems: [] };
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields !== "object" || fields === null || Array.isArray(fields))
      return unusable({ file, fields: {}, text }, { message: "it is not a JSON object" });
    // Parses the JSON text a second time as YAML, because only the YAML parser reports the positions of fields. Skips large files, because
    // the YAML parser is slow.
    const document = text.length <= longestManifestBytes ? parseDocument(text) : undefined;
    return { text: { file, fields: fields as Record<string, unknown>, document, positionAt: positionFinder(text) }, problems: [] };
  } catch (error) {
    const { message } = error as Error;
    const offset = /at position (\d+)/.exec(message)?.[1];
    return unusable(
      { file, fields: {}, text },
      {
        // Removes the excerpt of the file, which Node.js adds to the message after a comma.
        message: `it is not valid JSON: ${message.replace(/, ".*$/s, "")}`,
        offset: offset === undefined ? undefined : Number(offset),
      },
    );
  }
}

/**
 * Returns the position of a value. `path` contains the field names that lead to the value. If the value does not exist, returns the
 * position of its nearest parent. With `ofKey`, returns the position of the field name.
 */
export function positionOf(
  { document, positionAt }: MetadataText,
  path: readonly PropertyKey[],
  ofKey = false,
): Pick<Problem, "line" | "column"> {
  for (let length = path.length; length > 0; length -= 1) {
    const found = ofKey ? keyNode(document, path.slice(0, length)) : document?.getIn(path.slice(0, length), true);
    if (isNode(found) && found.range) return positionAt(found.range[0]);
  }
  return positionAt(undefined);
}

function keyNode(document: Document | undefined, path: readonly PropertyKey[]): unknown {
  const parent = path.length === 1 ? document?.contents : document?.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  return parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key;
}

function unusable(
  { file, fields, text }: { file: string; fields: Readonly<Record<string, unknown>>; text: string },
  ...faults: readonly ManifestFault[]
): MetadataReading {
  const positionAt = positionFinder(text);
  return {
    text: { file, fields, document: undefined, positionAt },
    problems: faults.map(({ message, offset }) => ({
      severity: "error",
      code: "INVALID_PACKAGE_METADATA",
      message,
      file,
      ...positionAt(offset),
    })),
  };
}

function positionFinder(text: string): MetadataText["positionAt"] {
  const lines = new LineCounter();
  for (let at = 0; at >= 0 && at < text.length; at = text.indexOf("\n", at) + 1 || -1) lines.addNewLine(at);
  return (offset) => {
    if (offset === undefined) return {};
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}
