import type * as z from "zod";
import { ApiError } from "../../shared/api-error.js";
import path from "node:path";
import { isMap, isScalar, type Document, type Pair, type YAMLMap } from "yaml";
import { longestManifestBytes, parseManifest } from "../../shared/manifest-yaml.js";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import { readMetadataText } from "./package-metadata.js";
import { issueText, validationMessage } from "../../shared/validation-message.js";

/** Parses the fields of a manifest. Throws `INVALID_PACKAGE_METADATA` and names the invalid fields. */
export function parseManifestFields<Schema extends z.ZodType>(schema: Schema, fields: Readonly<Record<string, unknown>>): z.output<Schema> {
  const parsed = schema.safeParse(fields, { error: validationMessage });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(issueText);
  throw new ApiError("INVALID_PACKAGE_METADATA", `The package's manifest cannot be used. ${faults.slice(0, 5).join("; ")}.`, {
    details: faults.slice(0, 50),
  });
}

/**
 * Returns the path and the text of a manifest in which `enabled` has the given value. If the folder contains only package.json, returns a
 * new manifest.yaml.
 */
export function toggledManifest(folder: string, enabled: boolean): { filePath: string; text: string } {
  for (const fileName of manifestFileNames) {
    const filePath = path.join(folder, fileName);
    const text = readMetadataText(filePath, longestManifestBytes);
    if (text !== undefined) return { filePath, text: withEnabled(text, enabled, fileName) };
  }
  return { filePath: path.join(folder, manifestFileNames[0]), text: `enabled: ${enabled}\n` };
}

/** Sets `enabled` in the text of a manifest. All other bytes stay the same if possible. Otherwise writes the whole YAML document again. */
function withEnabled(text: string, enabled: boolean, fileName: string): string {
  const { document } = parseManifest(text, fileName);
  const edited = editedText(text, document, enabled);
  if (edited !== undefined && saysEnabled(edited, enabled, fileName)) return edited;
  document.set("enabled", enabled);
  return document.toString({ lineWidth: 0 });
}

function editedText(text: string, document: Document.Parsed, enabled: boolean): string | undefined {
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  if (document.contents === null) return `${text}${text === "" || text.endsWith("\n") ? "" : lineEnd}enabled: ${enabled}${lineEnd}`;
  if (!isMap(document.contents)) return undefined;
  const current: unknown = document.get("enabled", true);
  if (isScalar(current) && current.range) return splice(text, current.range[0], current.range[1], String(enabled));
  return withFirstKey(text, document.contents, `enabled: ${enabled}${lineEnd}`);
}

/** Inserts a line before the first key of a YAML map. The line gets the same indentation as this key. */
function withFirstKey(text: string, map: YAMLMap, line: string): string | undefined {
  const first: Pair | undefined = map.items[0];
  if (map.flow || !first || !isScalar(first.key) || !first.key.range) return undefined;
  const [start] = first.key.range;
  const indentation = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  return /^ *$/.test(indentation) ? splice(text, start, start, line + indentation) : undefined;
}

function splice(text: string, start: number, end: number, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

function saysEnabled(text: string, enabled: boolean, fileName: string): boolean {
  try {
    return parseManifest(text, fileName).fields["enabled"] === enabled;
  } catch {
    return false;
  }
}
