const longestPlainBytes = 2_048;
const pair = /^(?!true|false|null)([a-z][A-Za-z]*): +(\S.*)$/;

/**
 * The fields of a manifest that is nothing but unindented `key: value` lines of words, as most are: YAML's parser takes a hundred times
 * longer, which is felt when 2,000 workers are read. Undefined for anything that YAML might see in another way.
 */
export function plainManifest(text: string): Record<string, unknown> | undefined {
  if (text.length > longestPlainBytes) return undefined;
  const fields: Record<string, unknown> = {};
  for (const line of text.split("\n")) {
    if (line === "" || /^#[\x20-\x7e]*$/.test(line)) continue;
    const [, key, written] = pair.exec(line) ?? [];
    if (key === undefined || written === undefined || Object.hasOwn(fields, key) || key in Object.prototype) return undefined;
    const value = plainValue(written);
    if (value === undefined || (key === "version" && typeof value === "number")) return undefined;
    fields[key] = value;
  }
  return Object.keys(fields).length > 0 ? fields : undefined;
}

function plainValue(written: string): string | number | boolean | undefined {
  if (written === "true") return true;
  if (written === "false") return false;
  if (/^(?:0|[1-9]\d{0,8})$/.test(written)) return Number(written);
  // Strings only: a number has one dot at most and no unit; null and the booleans have other spellings.
  if (/^(?:null|true|false)$/i.test(written)) return undefined;
  if (/^[A-Za-z][\w./@-]*$/.test(written)) return written;
  if (/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(written) || /^\d+(?:ms|s|m|h|d|kb|mb|gb)$/.test(written)) return written;
  return /^(?:"[\w./@ -]*"|'[\w./@ -]*')$/.test(written) ? written.slice(1, -1) : undefined;
}
