import { Composer, isMap, Parser, type CST, type Document, type Pair, type ParsedNode } from "yaml";
import { ApiError } from "./api-error.js";

/** Maximum size of a manifest file in bytes. The limit keeps the time for parsing short. */
export const longestManifestBytes = 64 * 1024;
const mostLines = 5_000;
const mostNodes = 2_000;
const deepestNesting = 32;
const mostAliases = 100;

export interface Manifest {
  readonly document: Document.Parsed;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function invalidMetadata(fileName: string, why: string, cause?: unknown): ApiError {
  return new ApiError("INVALID_PACKAGE_METADATA", `${fileName} cannot be used: ${why}.`, { cause });
}

/** A fault in a manifest. `offset` is the position of the fault in characters from the start of the text. */
export interface ManifestFault {
  readonly message: string;
  readonly offset?: number | undefined;
  readonly cause?: unknown;
}

/** Result of parsing a manifest: the manifest, or its faults. */
export type ManifestReading =
  | { readonly manifest: Manifest; readonly faults: readonly [] }
  | { readonly manifest: undefined; readonly faults: readonly [ManifestFault, ...ManifestFault[]] };

/** Parses a manifest. Throws `INVALID_PACKAGE_METADATA` unless the text is a single plain YAML mapping. */
export function parseManifest(text: string, fileName: string): Manifest {
  const { manifest, faults } = readManifest(text);
  if (manifest) return manifest;
  throw invalidMetadata(fileName, `${faults[0].message}${positionText(text, faults[0].offset)}`, faults[0].cause);
}

/** Returns a text with the line and column of a character, for messages. Empty if `offset` is undefined. */
export function positionText(text: string, offset: number | undefined): string {
  if (offset === undefined) return "";
  const before = text.slice(0, offset).split("\n");
  return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}

/**
 * Parses a manifest and returns all faults. Checks size and nesting first: the YAML library builds nodes recursively, and V8 ends the
 * process if a regular expression is compiled on an almost full stack.
 */
export function readManifest(text: string): ManifestReading {
  if (text.split("\n", mostLines + 1).length > mostLines) return faulty({ message: `it has more than ${mostLines} lines` });
  try {
    const tokens = [...new Parser().parse(text)];
    const misshapen = shapeFault(tokens);
    if (misshapen) return faulty(misshapen);
    const documents = [...new Composer({ uniqueKeys: false, version: "1.2", schema: "core" }).compose(tokens, true, text.length)];
    const [document, second] = documents;
    if (!document || second) return faulty({ message: "it holds several YAML documents; keep one", offset: second?.range[0] });
    const [first, ...others] = [...document.errors, ...document.warnings].map(yamlFault);
    if (first) return faulty(first, ...others);
    return readFields(document);
  } catch (error) {
    return faulty(yamlFault(error as Error));
  }
}

function faulty(first: ManifestFault, ...others: ManifestFault[]): ManifestReading {
  return { manifest: undefined, faults: [first, ...others] };
}

function yamlFault(error: Error & { readonly pos?: readonly [number, number] }): ManifestFault {
  return { message: `it is not valid YAML: ${error.message}`, offset: error.pos?.[0], cause: error };
}

/**
 * Returns a fault if the YAML is nested too deep or has too many nodes. Visits the tokens without recursion, so that deep input cannot fill
 * the stack.
 */
function shapeFault(tokens: readonly CST.Token[]): ManifestFault | undefined {
  const open: [token: CST.Token, depth: number][] = tokens.map((token) => [token, 0]);
  let nodeCount = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [token, depth] = next;
    nodeCount += 1;
    const offset = token.offset;
    if (depth > deepestNesting) return { message: `it is nested more than ${deepestNesting} levels deep`, offset };
    if (nodeCount > mostNodes) return { message: `it has more than ${mostNodes} keys and values` };
    for (const child of childrenOf(token)) open.push([child, depth + 1]);
  }
  return undefined;
}

function childrenOf(token: CST.Token): CST.Token[] {
  if (token.type === "document") return token.value ? [token.value] : [];
  if (!("items" in token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value]).filter((child) => child !== null && child !== undefined);
}

function readFields(document: Document.Parsed): ManifestReading {
  if (document.contents === null) return { manifest: { document, fields: {} }, faults: [] };
  if (!isMap(document.contents)) return faulty({ message: "it is not a list of keys with values", offset: document.contents.range[0] });
  const [first, ...others] = repeatedKeys(document.contents.items);
  if (first) return faulty(first, ...others);
  const fields = document.toJS({ maxAliasCount: mostAliases }) as Record<string, unknown>;
  if (containsItself(fields)) return faulty({ message: "it has a value that contains itself" });
  return { manifest: { document, fields }, faults: [] };
}

/**
 * Returns a fault for each repeated key of a mapping. Takes linear time. The yaml package's own check is disabled, because it compares all
 * pairs of keys.
 */
function repeatedKeys(pairs: readonly Pair<ParsedNode, ParsedNode | null>[]): ManifestFault[] {
  const seen = new Set<string>();
  return pairs.flatMap(({ key }) => {
    const name = String(key);
    if (seen.has(name)) return [{ message: `it has the key ${JSON.stringify(name)} twice`, offset: key.range[0] }];
    seen.add(name);
    return [];
  });
}

/**
 * Whether a value contains itself through a YAML alias. The recursion ends because the nesting is limited. An alias that is used several
 * times is allowed.
 */
function containsItself(value: unknown, within: readonly unknown[] = []): boolean {
  if (typeof value !== "object" || value === null) return false;
  return within.includes(value) || Object.values(value).some((child) => containsItself(child, [...within, value]));
}
