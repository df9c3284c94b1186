import { isMap, isScalar, stringify, type Document, type ParsedNode } from "yaml";
import { invalidMetadata, parseManifest } from "../../../shared/manifest-yaml.js";

/** New values by name of the top-level field of a manifest. The value null removes the field. */
export type FieldChanges = Readonly<Record<string, unknown>>;

/**
 * Returns the manifest text with the new values. Comments and the order of fields stay. Simple values change only the lines of their
 * fields. Other values cause a new serialization of the whole document. Throws INVALID_PACKAGE_METADATA.
 */
export function withFields(text: string, fileName: string, changes: FieldChanges): string {
  let edited = text;
  for (const [field, value] of Object.entries(changes)) edited = withField(edited, fileName, [field], value);
  return edited;
}

/** Returns the manifest text with one new value at a path such as `["config", "limit"]`. Throws INVALID_PACKAGE_METADATA. */
export function withField(text: string, fileName: string, path: readonly string[], value: unknown): string {
  const { document, fields } = parseManifest(text, fileName);
  const wanted = changed(fields, path, value);
  const spliced = path.length === 1 ? splicedText(text, document, path[0] as string, value) : undefined;
  if (spliced !== undefined && isEqual(fieldsIn(spliced, fileName), wanted)) return spliced;
  setIn(document, path, value ?? undefined);
  try {
    const serialized = document.toString({ lineWidth: 0, flowCollectionPadding: !/[{[]\S/.test(text) });
    if (isEqual(fieldsIn(serialized, fileName), wanted)) return serialized;
  } catch {
    // Ignores the error if the YAML package cannot write the changed document. The code below throws an error for this case.
  }
  throw invalidMetadata(
    fileName,
    `${path.join(".")} cannot be changed alone, because other fields refer to it; change the text of the file`,
  );
}

function changed(fields: Readonly<Record<string, unknown>>, path: readonly string[], value: unknown): Record<string, unknown> {
  const [first = "", ...rest] = path;
  const { [first]: before, ...others } = fields;
  const inner = rest.length === 0 ? (value ?? undefined) : changed(isObject(before) ? before : {}, rest, value);
  return inner === undefined ? others : { ...fields, [first]: inner };
}

/**
 * Returns the text after one of three simple changes: a replaced value, a new field at the end, or a removed line. Returns undefined if
 * none of these changes is possible.
 */
function splicedText(text: string, document: Document.Parsed, field: string, value: unknown): string | undefined {
  const { contents } = document;
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const isPresent = document.has(field);
  if (!isPresent) {
    if (value === null || value === undefined) return text;
    if (contents !== null && (!isMap(contents) || contents.flow)) return undefined;
    const added = stringify({ [field]: value }, { lineWidth: 0 }).replaceAll("\n", lineEnd);
    return `${text}${text === "" || text.endsWith("\n") ? "" : lineEnd}${added}`;
  }
  const current = document.get(field, true) as ParsedNode | undefined;
  if (!isScalar(current) || !current.range || current.type?.startsWith("BLOCK") || isObject(value) || Array.isArray(value))
    return undefined;
  const [start, end] = current.range;
  if (value === null || value === undefined) return withoutLine(text, start, end);
  const written = stringify(value, { lineWidth: 0, defaultStringType: current.type === "PLAIN" ? "PLAIN" : "QUOTE_DOUBLE" }).trimEnd();
  return written.includes("\n") ? undefined : text.slice(0, start) + written + text.slice(end);
}

/**
 * Returns the text without the line that contains the characters from `start` to `end`. Returns undefined if these characters extend over
 * several lines.
 */
function withoutLine(text: string, start: number, end: number): string | undefined {
  if (text.slice(start, end).includes("\n")) return undefined;
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const to = text.indexOf("\n", end);
  return text.slice(0, from) + (to === -1 ? "" : text.slice(to + 1));
}

/**
 * Sets the value at a path of the document. Keeps the nodes of unchanged values, so that their comments stay. The value undefined removes
 * the field.
 */
function setIn(document: Document.Parsed, path: readonly string[], value: unknown): void {
  if (value === undefined) return void document.deleteIn(path);
  const current = document.getIn(path, true);
  if (isMap(current) && isObject(value)) {
    const keys = current.items.map(({ key }) => (isScalar(key) ? String(key.value) : undefined));
    for (const key of keys) if (key !== undefined && !Object.hasOwn(value, key)) document.deleteIn([...path, key]);
    for (const [key, inner] of Object.entries(value)) setIn(document, [...path, key], inner);
    return;
  }
  if (isScalar(current) && !isObject(value) && !Array.isArray(value)) {
    if (current.value !== value) current.value = value;
    return;
  }
  if (current !== undefined && isEqual((current as ParsedNode).toJS(document), value)) return;
  document.setIn(path, document.createNode(value));
}

function fieldsIn(text: string, fileName: string): unknown {
  try {
    return parseManifest(text, fileName).fields;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns true if two JSON values are equal. The order of the fields of an object does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  if (isObject(one) && isObject(other)) {
    const keys = Object.keys(one);
    return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]));
  }
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]));
  return one === other;
}
