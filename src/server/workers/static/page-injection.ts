/** Content that the daemon injects into the pages of a site. */
export interface PageInjection {
  /**
   * `absolute` or `relative`: a `<base href>` of this form is inserted. `rewrite`: the base path is added to the paths of the site's files
   * instead.
   */
  readonly base: "absolute" | "relative" | "rewrite";
  readonly variables: Readonly<Record<string, string>>;
}

/** Base path of one page: `href` for an inserted `<base>` element, or `prefix` for rewritten paths. */
export interface PageBase {
  readonly href: string | undefined;
  readonly prefix: string | undefined;
}

const tag = /<[a-z][^<>]*>/gi;
/**
 * Matches an attribute whose quoted value is a path on the site's origin, such as `/logo.png`. Excludes `//host/path`, which is on another
 * origin.
 */
const pathAttribute = /(\s(?:src|href|poster|data-src)\s*=\s*)(["'])(\/(?!\/)[^"'?#]*)/gi;

/** Inserts the base path and the public variables into an HTML page. `exists` returns whether the site has a file at a path. */
export async function injectIntoPage(
  html: string,
  { href, prefix }: PageBase,
  { variables, exists }: { variables: Readonly<Record<string, string>>; exists: (file: string) => Promise<boolean> },
): Promise<string> {
  const page = prefix ? await withPrefix(html, prefix, exists) : html;
  const hasVariables = Object.keys(variables).length > 0;
  const script = hasVariables ? `<script>window.__env__=${scriptJson(variables)}</script>` : "";
  return withTags(page, (href === undefined ? "" : `<base href="${attribute(href)}">`) + script);
}

/** Inserts tags right after `<head>`. */
function withTags(html: string, tags: string): string {
  const head = /<head(?:\s[^<>]*)?>/i.exec(html);
  if (head) {
    const at = head.index + head[0].length;
    return html.slice(0, at) + tags + html.slice(at);
  }
  // A page can omit `<head>`. The injection then follows the doctype and `<html>`, because text before the doctype would select quirks
  // mode.
  const start = /^\s*(?:<!doctype[^>]*>)?\s*(?:<html(?:\s[^>]*)?>)?/i.exec(html)?.[0].length ?? 0;
  return html.slice(0, start) + tags + html.slice(start);
}

/** Adds the prefix to each path in the page that belongs to a file of the site, and to the entry page's path `/`. */
async function withPrefix(html: string, prefix: string, exists: (file: string) => Promise<boolean>): Promise<string> {
  const paths = new Set<string>(html.match(tag)?.flatMap((text) => [...text.matchAll(pathAttribute)].map((match) => match[3] as string)));
  const ours = new Set<string>(["/"]);
  await Promise.all([...paths].map(async (path) => (await exists(path.slice(1))) && ours.add(path)));
  const rewritten = (text: string) =>
    text.replaceAll(pathAttribute, (whole, start: string, quote: string, path: string) =>
      ours.has(path) ? `${start}${quote}${attribute(prefix)}${path}` : whole,
    );
  return html.replaceAll(tag, rewritten);
}

function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
