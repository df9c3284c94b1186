import { realpath } from "node:fs/promises";
import path from "node:path";
import { isPathWithin } from "../../platform/path-within.js";

/** A source map comment of JavaScript or CSS. esbuild ends the URL at white space, so the pattern does, too. */
const comment = /sourceMappingURL=(\S*)/g;
/** A path without characters that esbuild decodes. */
const plainPath = /^[\w./-]+$/;

/**
 * Returns the text of `file` without references to source maps outside of `root`. esbuild reads these maps itself, not through plugins, and
 * quotes them in its errors. Maps in data URLs and in the package stay.
 */
export async function withoutForeignSourceMaps(text: string, file: string, root: string): Promise<string> {
  const foreign = new Set<string>();
  for (const [, url = ""] of text.matchAll(comment)) if (!url.startsWith("data:") && !(await leadsInto(url, file, root))) foreign.add(url);
  if (foreign.size === 0) return text;
  return text.replaceAll(comment, (whole, url: string) =>
    foreign.has(url) ? whole.replace("sourceMappingURL", "sourceMappingUrl") : whole,
  );
}

async function leadsInto(url: string, file: string, root: string): Promise<boolean> {
  if (!plainPath.test(url) || path.isAbsolute(url)) return false;
  const target = await realpath(path.resolve(path.dirname(file), url)).catch(() => undefined);
  return target !== undefined && isPathWithin(target, root);
}
