import { rootUrlsOfPage, rootUrlsOfScript } from "../../../shared/root-urls.js";
import { relativeFilePath } from "../../web/file-path.js";

/** Maximum number of URLs in one file to which the daemon adds the base path. Further URLs stay as they are. */
const mostUrls = 20_000;

const page = /^text\/html\b/;
/** Matches the content types of scripts and style sheets in which the daemon changes URLs. */
const script = /^(?:text\/(?:css|javascript)|application\/manifest\+json)\b/;
const tag = /<[a-z][^<>]*>/gi;
/** Matches an attribute with a URL on the origin of the site. */
const ownFile = /\s(?:src|href)\s*=\s*["']?(?![\s"']|\/\/|[a-z][a-z0-9+.-]*:)/i;
const integrity = /\sintegrity\s*=\s*(?:"[^"]*"|'[^']*')/gi;

/** Returns the kind of a file by its content type. Returns undefined if the daemon never changes files of this type. */
export function rewrittenKind(type: string): "page" | "script" | undefined {
  if (page.test(type)) return "page";
  return script.test(type) ? "script" : undefined;
}

/** Returns true if the site has the file of a path. With `isLink`, the path of a page can lack the extension `.html`. */
export type ContainsFile = (file: string, options: { readonly isLink: boolean }) => Promise<boolean>;

/**
 * Returns the ascending byte positions at which the daemon must insert the base path. Each position is the start of a URL with a leading
 * `/` that names a file of the site.
 */
export async function findInsertions(content: Buffer, kind: "page" | "script", contains: ContainsFile): Promise<Uint32Array> {
  // Decodes the content as Latin-1. A position in the text is then a position in bytes, and bytes that are not UTF-8 stay unchanged.
  const text = content.toString("latin1");
  const positions = new Map<string | undefined, Set<number>>();
  let count = 0;
  for (const { at, path, isLink } of kind === "page" ? rootUrlsOfPage(text) : rootUrlsOfScript(text)) {
    const key = path === undefined ? undefined : `${isLink ? "link" : "file"} ${path}`;
    positions.set(key, (positions.get(key) ?? new Set()).add(at));
    if ((count += 1) === mostUrls) break;
  }
  const isOurs = async (key: string | undefined) => {
    if (key === undefined) return true;
    const file = relativeFilePath(Buffer.from(key.slice(key.indexOf("/")), "latin1").toString("utf8"));
    return file !== undefined && (await contains(file, { isLink: key.startsWith("link") }));
  };
  const found = await Promise.all([...positions].map(async ([key, at]) => ((await isOurs(key)) ? [...at] : [])));
  return Uint32Array.from(new Set(found.flat())).toSorted();
}

/** Returns the base path with percent-encoded special characters, so that it is valid in each kind of string and attribute. */
export function insertedBase(base: string): string {
  return base.replaceAll(/[^\w@.~%+^*=:|/-]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

/**
 * Returns the content with the base path at each position of `at`. In a page, removes the attribute `integrity` from elements for files of
 * the site, because the content of these files also changes.
 */
export function withBasePath(content: Buffer, kind: "page" | "script", { base, at }: { base: string; at: Uint32Array }): Buffer {
  const inserted = Buffer.from(base, "latin1");
  const starts = [0, ...at];
  const parts = starts.flatMap((start, index) => [content.subarray(start, starts[index + 1]), inserted]);
  const rewritten = Buffer.concat(parts.slice(0, -1));
  return kind === "page" ? withoutIntegrity(rewritten) : rewritten;
}

function withoutIntegrity(html: Buffer): Buffer {
  if (!html.includes("integrity")) return html;
  const text = html.toString("latin1").replaceAll(tag, (whole) => (ownFile.test(whole) ? whole.replaceAll(integrity, "") : whole));
  return Buffer.from(text, "latin1");
}
