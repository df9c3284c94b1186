import { preferredCoding, type ContentCoding } from "../../web/content-coding.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import type { CompressedFiles } from "./compressed-files.js";
import { inCoding, withContent, type CacheShelf, type StaticCache, type StaticFile } from "./static-file.js";

/** Content that a site injects into its pages. */
interface Injection {
  readonly base: "absolute" | "relative";
  readonly variables: Readonly<Record<string, string>>;
}

/** The differences between the sent file and the file on disk. */
interface Variation {
  readonly href: string | undefined;
  readonly coding: ContentCoding | undefined;
}

/** Variants of one site's files: pages with injected base and variables, and compressed files. */
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

  /** Returns the variant of a file for this request, if the variant is the file itself or in memory. */
  inMemory(exchange: WorkerExchange, file: StaticFile): StaticFile | undefined {
    const variation = this.#variationFor(exchange, file);
    return variation ? this.#shelf.get(keyOf(file, variation))?.file : file;
  }

  /** Returns the variant, created if necessary. Closes the handle of the file if the variant does not use it. */
  async make(exchange: WorkerExchange, file: StaticFile): Promise<StaticFile> {
    const variation = this.#variationFor(exchange, file);
    if (!variation) return file;
    const key = keyOf(file, variation);
    let variant: StaticFile | undefined;
    try {
      variant = this.#shelf.get(key)?.file ?? (await this.#make(file, variation));
    } finally {
      if (variant !== file) await file.handle?.close();
    }
    // A cached variant is set again, so that the cache keeps a used variant as long as its file, which is refreshed every second.
    if (variant !== file && !this.#isRetired) this.#cache.set(this.#shelf, key, variant);
    return variant;
  }

  retire(): void {
    this.#isRetired = true;
    this.#cache.deleteAll(this.#shelf);
  }

  #variationFor({ request, address }: WorkerExchange, file: StaticFile): Variation | undefined {
    let href: string | undefined;
    if (this.#injection && file.body && file.type.startsWith("text/html")) {
      const depth = address.path.split("/").length - 2;
      href = this.#injection.base === "relative" ? "../".repeat(depth) || "./" : `${address.base}/`;
    }
    // A request for a range gets the uncompressed file, because clients combine parts of different responses.
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

/** Cache key of a variant. The ETag identifies the content. */
function keyOf({ path, etag }: StaticFile, { href, coding }: Variation): string {
  return [path, etag, href, coding].join("\n");
}

/** Inserts the base element and the public variables into an HTML page, right after `<head>`. */
function injectIntoPage(html: string, options: { href: string; variables: Readonly<Record<string, string>> }): string {
  const hasVariables = Object.keys(options.variables).length > 0;
  const script = hasVariables ? `<script>window.__env__=${scriptJson(options.variables)}</script>` : "";
  const tags = `<base href="${attribute(options.href)}">${script}`;
  const head = /<head(?:\s[^>]*)?>/i.exec(html);
  if (head) {
    const at = head.index + head[0].length;
    return html.slice(0, at) + tags + html.slice(at);
  }
  // A page can omit `<head>`. The injection then follows the doctype and `<html>`, because text before the doctype would select quirks
  // mode.
  const start = /^\s*(?:<!doctype[^>]*>)?\s*(?:<html(?:\s[^>]*)?>)?/i.exec(html)?.[0].length ?? 0;
  return html.slice(0, start) + tags + html.slice(start);
}

/** Returns the variables that pages can read: names that start with one of the prefixes. */
export function publicVariables(env: Readonly<Record<string, string>>, prefixes: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => prefixes.some((prefix) => prefix !== "" && name.startsWith(prefix))));
}

function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
