import { Composer, isMap, Parser, type CST, type Document } from "yaml";
import { ApiError } from "../../shared/api-error.js";

/** Bytes of a manifest at most. */
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

/**
 * Parses a manifest. Throws `INVALID_PACKAGE_METADATA` for anything but one plain YAML mapping.
 * Size and depth are checked between yaml's two stages: the second is recursive, slow on many keys, and can end the whole process
 * on deep input (V8 gives up compiling a regular expression when the stack is nearly used up, which no `catch` sees).
 */
export function parseManifest(text: string, fileName: string): Manifest {
  if (text.split("\n", mostLines + 1).length > mostLines) throw invalidMetadata(fileName, `it has more than ${mostLines} lines`);
  try {
    const tokens = [...new Parser().parse(text)];
    checkShape(tokens, fileName);
    const documents = [...new Composer({ uniqueKeys: false, version: "1.2", schema: "core" }).compose(tokens, true, text.length)];
    const [document, second] = documents;
    if (!document || second) throw invalidMetadata(fileName, "it holds several YAML documents; keep one");
    const [fault] = [...document.errors, ...document.warnings];
    if (fault) throw invalidMetadata(fileName, `it is not valid YAML: ${fault.message}`, fault);
    return { document, fields: fieldsOf(document, fileName) };
  } catch (error) {
    throw error instanceof ApiError ? error : invalidMetadata(fileName, `it is not valid YAML: ${(error as Error).message}`, error);
  }
}

/** Walks the tokens without recursion; the parser that made them does not recurse either. */
function checkShape(tokens: readonly CST.Token[], fileName: string): void {
  const open: [token: CST.Token, depth: number][] = tokens.map((token) => [token, 0]);
  let nodeCount = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [token, depth] = next;
    nodeCount += 1;
    if (depth > deepestNesting) throw invalidMetadata(fileName, `it is nested more than ${deepestNesting} levels deep`);
    if (nodeCount > mostNodes) throw invalidMetadata(fileName, `it has more than ${mostNodes} keys and values`);
    for (const child of childrenOf(token)) open.push([child, depth + 1]);
  }
}

function childrenOf(token: CST.Token): CST.Token[] {
  if (token.type === "document") return token.value ? [token.value] : [];
  if (!("items" in token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value]).filter((child) => child !== null && child !== undefined);
}

function fieldsOf(document: Document.Parsed, fileName: string): Record<string, unknown> {
  if (document.contents === null) return {};
  if (!isMap(document.contents)) throw invalidMetadata(fileName, "it is not a list of keys with values");
  // yaml's own check compares every key with every other.
  const keys = document.contents.items.map((pair) => String(pair.key));
  const repeated = keys.find((key, position) => keys.indexOf(key) !== position);
  if (repeated !== undefined) throw invalidMetadata(fileName, `it has the key ${JSON.stringify(repeated)} twice`);
  const fields = document.toJS({ maxAliasCount: mostAliases }) as Record<string, unknown>;
  if (containsItself(fields)) throw invalidMetadata(fileName, "it has a value that contains itself");
  return fields;
}

/** An alias within what it stands for. Nesting is limited, so this comes to an end soon; what is used twice is no fault. */
function containsItself(value: unknown, within: readonly unknown[] = []): boolean {
  if (typeof value !== "object" || value === null) return false;
  return within.includes(value) || Object.values(value).some((child) => containsItself(child, [...within, value]));
}
