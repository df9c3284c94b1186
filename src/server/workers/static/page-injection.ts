/** Content that the daemon inserts into the pages of a site. */
export interface PageInjection {
  /**
   * With `absolute` or `relative`, the daemon inserts a `<base href>` of this form. With `rewrite`, the daemon inserts the base path into
   * URLs of the site's files in pages, scripts and style sheets.
   */
  readonly base: "absolute" | "relative" | "rewrite";
  readonly variables: Readonly<Record<string, string>>;
}

/** Inserts `<base href>` and the public variables into an HTML page. If `href` is undefined, inserts no `<base>`. */
export function injectIntoPage(html: string, href: string | undefined, variables: PageInjection["variables"]): string {
  const hasVariables = Object.keys(variables).length > 0;
  const script = hasVariables ? `<script>window.__env__=${scriptJson(variables)}</script>` : "";
  return withTags(html, (href === undefined ? "" : `<base href="${attribute(href)}">`) + script);
}

/** Inserts tags directly after `<head>`. */
function withTags(html: string, tags: string): string {
  const head = /<head(?:\s[^<>]*)?>/i.exec(html);
  if (head) {
    const at = head.index + head[0].length;
    return html.slice(0, at) + tags + html.slice(at);
  }
  // In a page without `<head>`, inserts the tags after the doctype and `<html>`. Text before the doctype would cause the quirks mode of
  // browsers.
  const start = /^\s*(?:<!doctype[^>]*>)?\s*(?:<html(?:\s[^>]*)?>)?/i.exec(html)?.[0].length ?? 0;
  return html.slice(0, start) + tags + html.slice(start);
}

function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
