/** Puts the base of the site and its public variables into an HTML page, right after `<head>`. */
export function injectIntoPage(html: string, options: { href: string; variables: Readonly<Record<string, string>> }): string {
  const hasVariables = Object.keys(options.variables).length > 0;
  const script = hasVariables ? `<script>window.__env__=${scriptJson(options.variables)}</script>` : "";
  const tags = `<base href="${attribute(options.href)}">${script}`;
  const head = /<head(?:\s[^>]*)?>/i.exec(html);
  if (head) {
    const at = head.index + head[0].length;
    return html.slice(0, at) + tags + html.slice(at);
  }
  // A page may leave its head out: after the doctype and <html>, else it would change how the page is read.
  const start = /^\s*(?:<!doctype[^>]*>)?\s*(?:<html(?:\s[^>]*)?>)?/i.exec(html)?.[0].length ?? 0;
  return html.slice(0, start) + tags + html.slice(start);
}

/** The variables that a page may see: those whose name starts with one of the prefixes. */
export function publicVariables(env: Readonly<Record<string, string>>, prefixes: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => prefixes.some((prefix) => prefix !== "" && name.startsWith(prefix))));
}

function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
