import { preferredCoding, type ContentCoding } from "../../web/content-coding.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import type { CompressedFiles } from "./compressed-files.js";
import { injectIntoPage, type PageBase, type PageInjection } from "./page-injection.js";
import { inCoding, withContent, type CacheShelf, type StaticCache, type StaticFile } from "./static-file.js";

/** Differences between the file that is sent and the file on disk. */
interface Variation {
  /** Base path that is injected into a page; undefined for other files. */
  readonly base: PageBase | undefined;
  readonly coding: ContentCoding | undefined;
}

/** Variants of one site's files: HTML pages with an injected base path and variables, and compressed files. */
export class FileVariants {
  readonly #cache: StaticCache;
  readonly #compressed: CompressedFiles;
  readonly #injection: PageInjection | undefined;
  readonly #exists: (file: string) => Promise<boolean>;
  readonly #shelf: CacheShelf = new Map();
  #isRetired = false;

  /** `exists` returns whether the site contains a file. */
  constructor(options: {
    cache: StaticCache;
    compressed: CompressedFiles;
    injection: PageInjection | undefined;
    exists: (file: string) => Promise<boolean>;
  }) {
    this.#cache = options.cache;
    this.#compressed = options.compressed;
    this.#injection = options.injection;
    this.#exists = options.exists;
  }

  /** Returns the variant of a file for this request, if the variant is the file itself or is in memory; otherwise undefined. */
  inMemory(exchange: WorkerExchange, file: StaticFile): StaticFile | undefined {
    const variation = this.#variationFor(exchange, file);
    return variation ? this.#shelf.get(keyOf(file, variation))?.file : file;
  }

  /**
   * Returns the variant of a file for this request, created if necessary. Closes the file's handle if the variant does not use the handle.
   */
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
    // Stores a variant in the cache at each use. The cache evicts the entry whose last check is oldest, and only the file itself is checked
    // every second.
    if (variant !== file && !this.#isRetired) this.#cache.set(this.#shelf, key, variant);
    return variant;
  }

  retire(): void {
    this.#isRetired = true;
    this.#cache.deleteAll(this.#shelf);
  }

  #variationFor({ request, address }: WorkerExchange, file: StaticFile): Variation | undefined {
    const base = this.#injection && file.body && file.type.startsWith("text/html") ? baseOf(this.#injection, address) : undefined;
    // Sends the uncompressed file for a range request, because clients combine parts of different responses.
    const takesCoding = file.isCompressible && request.headers.range === undefined;
    const coding = takesCoding ? preferredCoding(request.headers["accept-encoding"]) : undefined;
    return base === undefined && coding === undefined ? undefined : { base, coding };
  }

  async #make(file: StaticFile, { base, coding }: Variation): Promise<StaticFile> {
    const whole = base === undefined ? file : await this.#inject(file, base);
    if (!coding) return whole;
    const content = whole.body ?? (await whole.handle?.readFile());
    const compressed = content && (await this.#compressed.compress(content, coding));
    return compressed ? inCoding(whole, coding, compressed) : whole;
  }

  async #inject(file: StaticFile, base: PageBase): Promise<StaticFile> {
    const variables = this.#injection?.variables ?? {};
    const html = await injectIntoPage(file.body?.toString("utf8") ?? "", base, { variables, exists: this.#exists });
    return withContent(file, Buffer.from(html));
  }
}

/** Returns the cache key of a variant. The ETag identifies the content of the file. */
function keyOf({ path, etag }: StaticFile, { base, coding }: Variation): string {
  return [path, etag, base?.href, base?.prefix, coding].join("\n");
}

/** Returns the base path to inject into the page at a request's address. */
function baseOf({ base }: PageInjection, { base: prefix, path }: WorkerExchange["address"]): PageBase {
  if (base === "rewrite") return { href: undefined, prefix };
  const depth = path.split("/").length - 2;
  return { href: base === "relative" ? "../".repeat(depth) || "./" : `${prefix}/`, prefix: undefined };
}

/** Returns the environment variables that pages can read: the variables whose names start with one of the prefixes. */
export function publicVariables(env: Readonly<Record<string, string>>, prefixes: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => prefixes.some((prefix) => prefix !== "" && name.startsWith(prefix))));
}
