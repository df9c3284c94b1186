const longestPlainBytes = 2_048;
const pair = /^(?!true|false|null)([a-z][A-Za-z]*): +(\S.*)$/;
/**
 * Key and indentation of the block `deploy`, which `runtimectl deploy` writes to a manifest. Most manifests contain no other nested block.
 */
const [block, indentation] = ["deploy", "  "];

/**
 * Parses a manifest that contains only simple lines of the form `key: value`. The YAML parser takes 100 times as long, which would delay a
 * start with 2,000 workers. Returns undefined if YAML could parse the text in another way.
 */
export function plainManifest(text: string): Record<string, unknown> | undefined {
  if (text.length > longestPlainBytes) return undefined;
  const fields: Record<string, unknown> = {};
  let inBlock: Record<string, unknown> | undefined;
  for (const line of text.split("\n")) {
    if (line === "" || /^#[\x20-\x7e]*$/.test(line)) continue;
    if (line === `${block}:` && !Object.hasOwn(fields, block)) {
      fields[block] = inBlock = {};
      continue;
    }
    const isInBlock = inBlock !== undefined && line.startsWith(indentation);
    if (!isInBlock) inBlock = undefined;
    if (!addPair(inBlock ?? fields, isInBlock ? line.slice(indentation.length) : line)) return undefined;
  }
  // Returns null for a block without lines, because the YAML parser does the same.
  const isBlockEmpty = fields[block] !== undefined && Object.keys(fields[block] as object).length === 0;
  return Object.keys(fields).length > 0 && !isBlockEmpty ? fields : undefined;
}

function addPair(fields: Record<string, unknown>, line: string): boolean {
  const [, key, written] = pair.exec(line) ?? [];
  if (key === undefined || written === undefined || Object.hasOwn(fields, key) || key in Object.prototype) return false;
  const value = plainValue(written);
  if (value === undefined || (key === "version" && typeof value === "number")) return false;
  fields[key] = value;
  return true;
}

function plainValue(written: string): string | number | boolean | undefined {
  if (written === "true") return true;
  if (written === "false") return false;
  if (/^(?:0|[1-9]\d{0,9})$/.test(written)) return Number(written);
  // The patterns below match only texts that YAML parses as strings. A YAML number has at most one dot and no unit.
  if (/^(?:null|true|false)$/i.test(written)) return undefined;
  if (/^[A-Za-z][\w./@-]*$/.test(written)) return written;
  if (/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(written) || /^\d+(?:ms|s|m|h|d|kb|mb|gb)$/.test(written)) return written;
  return /^(?:"[ !#-[\]-~]*"|'[\w./@ -]*')$/.test(written) ? written.slice(1, -1) : undefined;
}
