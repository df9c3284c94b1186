import { preferredCoding, type ContentCoding } from "../../web/content-coding.js";
import type { Visit } from "../engine/visit.js";
import type { CompressedFiles } from "./compressed-files.js";
import { inCoding, withContent, type CacheShelf, type StaticCache, type StaticFile } from "./static-file.js";

/** What a site wants to be injected into its pages. */
interface Injection {
  readonly base: "absolute" | "relative";
  readonly variables: Readonly<Record<string, string>>;
}

/** How the file that a client gets differs from the one on the disk. */
interface Variation {
  readonly href: string | undefined;
  readonly coding: ContentCoding | undefined;
}

/** The variants of the files of one site: pages with their base and variables, and both pages and other files compressed. */
export class FileVariants {
  readonly #cache: StaticCache;
  readonly #compressed: CompressedFiles;
  readonly #injection: Injection | undefined;
  readonly #shelf: CacheShelf = new Map();
  #isRetired = false;

  constructor(options: { cache: StaticCache; compressed: CompressedFiles; injection: Injection | undefined }) {
    this.#cache = options.cache;
    this.#compressed = options.compressed;
    this.#injection = options.injection;
  }

  /** The variant of a file for this visit, if it needs none or it is in memory. */
  inMemory(visit: Visit, file: StaticFile): StaticFile | undefined {
    const variation = this.#variationFor(visit, file);
    return variation ? this.#shelf.get(keyOf(file, variation))?.file : file;
  }

  /** The same, made if need be. The handle of the file is closed when the variant has none. */
  async make(visit: Visit, file: StaticFile): Promise<StaticFile> {
    const variation = this.#variationFor(visit, file);
    if (!variation) return file;
    const key = keyOf(file, variation);
    let variant: StaticFile | undefined;
    try {
      variant = this.#shelf.get(key)?.file ?? (await this.#make(file, variation));
    } finally {
      if (variant !== file) await file.handle?.close();
    }
    // Also one that was there: what is in use stays in the cache as long as its file, which is set again every second.
    if (variant !== file && !this.#isRetired) this.#cache.set(this.#shelf, key, variant);
    return variant;
  }

  retire(): void {
    this.#isRetired = true;
    this.#cache.deleteAll(this.#shelf);
  }

  #variationFor({ request, address }: Visit, file: StaticFile): Variation | undefined {
    let href: string | undefined;
    if (this.#injection && file.body && file.type.startsWith("text/html")) {
      const depth = address.path.split("/").length - 2;
      href = this.#injection.base === "relative" ? "../".repeat(depth) || "./" : `${address.base}/`;
    }
    // A range is one of the file itself: clients put parts together that they got at different times.
    const takesCoding = file.isCompressible && request.headers.range === undefined;
    const coding = takesCoding ? preferredCoding(request.headers["accept-encoding"]) : undefined;
    return href === undefined && coding === undefined ? undefined : { href, coding };
  }

  async #make(file: StaticFile, { href, coding }: Variation): Promise<StaticFile> {
    const whole = href === undefined ? file : this.#inject(file, href);
    if (!coding) return whole;
    const content = whole.body ?? (await whole.handle?.readFile());
    const compressed = content && (await this.#compressed.compress(content, coding));
    return compressed ? inCoding(whole, coding, compressed) : whole;
  }

  #inject(file: StaticFile, href: string): StaticFile {
    const html = injectIntoPage(file.body?.toString("utf8") ?? "", { href, variables: this.#injection?.variables ?? {} });
    return withContent(file, Buffer.from(html));
  }
}

/** The ETag of a file changes with its content. */
function keyOf({ path, etag }: StaticFile, { href, coding }: Variation): string {
  return [path, etag, href, coding].join("\n");
}

/** Puts the base of the site and its public variables into an HTML page, right after `<head>`. */
function injectIntoPage(html: string, options: { href: string; variables: Readonly<Record<string, string>> }): string {
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
