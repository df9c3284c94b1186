/**
 * A URL that begins with `/` in a page, script or style sheet. If the site has a base path, the daemon must insert the base path before the
 * URL.
 */
export interface RootUrl {
  /** Position of the leading `/` in the text of the file. */
  readonly at: number;
  /** Path of the URL as written in the file, with the leading `/`. Undefined for the root of the site, which exists in every site. */
  readonly path: string | undefined;
  /**
   * True if the URL is the value of an attribute of a page and can therefore lack the file extension of a page. False if the URL names
   * exactly one file.
   */
  readonly isLink: boolean;
}

/**
 * Maximum size in bytes of a page, script or style sheet whose URLs the daemon rewrites. Scanning 4 MB occupies the daemon's event loop for
 * 15 ms.
 */
export const mostRewrittenBytes = 4 * 1024 * 1024;

/**
 * Matches a path that begins after a quote and ends at the same quote, a query or a fragment. A backslash can precede the quote at the end.
 */
const quotedPath = /(["'`])(\/(?!\/)[^"'`?#\\<>\r\n]{1,300})(?=\\?\1|[?#])/g;
/** Matches a path in `url(…)` without quotes. */
const bracketedPath = /(url\(\s{0,8})(\/(?!\/)[^"'`?#\\()<>\s]{1,300})(?=\s{0,8}\)|[?#])/gi;
/**
 * Matches the function of a Vite build that adds the base path to files of a lazily loaded module. The match ends before the `/` that is
 * the base path.
 */
const preloadBase = /function\s{0,4}\(([\w$]{1,60})\)\s{0,4}\{\s{0,8}return\s{0,4}(["'`])(?=\/\2\s{0,4}\+\s{0,4}\1(?![\w$]))/g;
/** Maximum number of characters between the string `modulepreload` and the function that `preloadBase` matches. */
const preloadDistance = 140;
/** Matches the assignment of the public path in a webpack build. The match ends before the `/` that begins the public path. */
const webpackBase = /\b[\w$]{1,40}\.p\s{0,4}=\s{0,4}(["'`])(?=\/(?:[\w.@-]{1,60}\/){0,10}\1)/g;
/** Number of characters before a quote in which `isAppended` searches for the operator `+`. */
const mostSpaces = 16;

const tagPattern = /<[a-z][^<>]*>/gi;
const pathAttribute = /(\s(?:src|href|xlink:href|poster|data|data-src)\s*=\s*)(?:(["'])(\/(?!\/)[^"'?#]*)|(\/(?!\/)[^"'?#\s>]*))/gi;
const sourceSet = /(\s(?:imagesrcset|srcset)\s*=\s*["'])([^"']*)/gi;
const sourceSetPath = /(^|,\s*)(\/(?!\/)[^\s,?#]+)/g;
const openingTag = /<(script|style)\b([^<>]*)>/gi;
const scriptType = /\stype\s*=\s*["']?([^"'\s>]*)/i;
const codeTypes: ReadonlySet<string> = new Set(["", "module", "importmap", "text/javascript", "application/javascript"]);

/** Yields the URLs that begin with `/` in a script, a style sheet or a web app manifest, in any order. */
export function rootUrlsOfScript(text: string): Iterable<RootUrl> {
  return scriptUrls(text, 0);
}

/** Yields the URLs in the attributes, inline scripts and inline style sheets of an HTML page, in any order. */
export function* rootUrlsOfPage(html: string): Iterable<RootUrl> {
  const opening = new RegExp(openingTag);
  let start = 0;
  for (let tag = opening.exec(html); tag; tag = opening.exec(html)) {
    const [whole, name = "", attributes = ""] = tag;
    const isStyle = name.toLowerCase() === "style";
    const closing = isStyle ? /<\/style/gi : /<\/script/gi;
    const codeStart = (closing.lastIndex = tag.index + whole.length);
    const codeEnd = closing.exec(html)?.index ?? html.length;
    yield* attributeUrls(html.slice(start, codeStart), start);
    const type = scriptType.exec(attributes)?.[1]?.toLowerCase() ?? "";
    if (isStyle || codeTypes.has(type)) yield* scriptUrls(html.slice(codeStart, codeEnd), codeStart);
    opening.lastIndex = start = codeEnd;
  }
  yield* attributeUrls(html.slice(start), start);
}

function* scriptUrls(text: string, offset: number): Iterable<RootUrl> {
  for (const { index, 1: before = "", 2: path } of text.matchAll(quotedPath))
    if (!isAppended(text, index)) yield { at: offset + index + before.length, path, isLink: false };
  yield* bracketedUrls(text, offset);
  for (const { index, 0: whole } of text.matchAll(preloadBase))
    if (text.slice(Math.max(0, index - preloadDistance), index).includes("modulepreload"))
      yield { at: offset + index + whole.length, path: undefined, isLink: false };
  if (!text.includes("webpackChunk")) return;
  for (const { index, 0: whole } of text.matchAll(webpackBase)) yield { at: offset + index + whole.length, path: undefined, isLink: false };
}

/**
 * Returns true if the operator `+` precedes a string, which is then not the start of a URL. `quote` is the position of the opening quote.
 */
function isAppended(text: string, quote: number): boolean {
  const before = text.slice(Math.max(0, quote - mostSpaces), quote).replace(/\\$/, "");
  return before.trimEnd().endsWith("+");
}

function* attributeUrls(html: string, offset: number): Iterable<RootUrl> {
  for (const { index: tagStart, 0: tag } of html.matchAll(tagPattern)) {
    const start = offset + tagStart;
    for (const { index, 1: before = "", 2: quote = "", 3: quoted, 4: bare } of tag.matchAll(pathAttribute)) {
      const path = (quoted ?? bare)?.replaceAll("&amp;", "&");
      yield { at: start + index + before.length + quote.length, path: path === "/" ? undefined : path, isLink: true };
    }
    for (const { index, 1: before = "", 2: value = "" } of tag.matchAll(sourceSet))
      for (const { index: inValue, 1: comma = "", 2: path } of value.matchAll(sourceSetPath))
        yield { at: start + index + before.length + inValue + comma.length, path, isLink: false };
    yield* bracketedUrls(tag, start);
  }
}

function* bracketedUrls(text: string, offset: number): Iterable<RootUrl> {
  for (const { index, 1: before = "", 2: path } of text.matchAll(bracketedPath))
    yield { at: offset + index + before.length, path, isLink: false };
}
