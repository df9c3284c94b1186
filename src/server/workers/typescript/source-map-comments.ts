import { realpath } from "node:fs/promises";
import path from "node:path";

/** As esbuild finds it in comments of JavaScript and CSS; up to white space, so that no part that esbuild takes is overlooked. */
const comment = /sourceMappingURL=(\S*)/g;
/** A relative path with nothing that esbuild would decode. */
const plainPath = /^[\w./-]+$/;

/**
 * The text without references to source maps outside of `root`: esbuild reads them itself, past every plugin, and quotes them in its
 * errors. Maps in data URLs and in the package stay. `file` is where the text is from.
 */
export async function withoutForeignSourceMaps(text: string, file: string, root: string): Promise<string> {
  const foreign = new Set<string>();
  for (const [, url = ""] of text.matchAll(comment)) if (!url.startsWith("data:") && !(await isWithin(url, file, root))) foreign.add(url);
  if (foreign.size === 0) return text;
  return text.replaceAll(comment, (whole, url: string) =>
    foreign.has(url) ? whole.replace("sourceMappingURL", "sourceMappingUrl") : whole,
  );
}

async function isWithin(url: string, file: string, root: string): Promise<boolean> {
  if (!plainPath.test(url) || path.isAbsolute(url)) return false;
  const target = await realpath(path.resolve(path.dirname(file), url)).catch(() => undefined);
  return target?.startsWith(root + path.sep) === true;
}
