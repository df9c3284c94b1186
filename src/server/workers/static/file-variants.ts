import { mostRewrittenBytes } from "../../../shared/root-urls.js";
import { preferredCoding, type ContentCoding } from "../../web/content-coding.js";
import type { WorkerExchange } from "../engine/worker-exchange.js";
import { findInsertions, insertedBase, rewrittenKind, withBasePath, type ContainsFile } from "./base-path.js";
import type { CompressedFiles } from "./compressed-files.js";
import { injectIntoPage, type PageInjection } from "./page-injection.js";
import { inCoding, withContent, type SiteCache, type StaticCache, type StaticFile } from "./static-file.js";

/** Maximum number of files per site whose insertion positions are in memory. The positions of one file take up to 80 KB. */
const mostKnownFiles = 500;

/** Differences between the sent file and the file on the disk. */
interface Variation {
  /** URL of the `<base>` element that the daemon inserts into a page. */
  readonly href: string | undefined;
  /** Base path that the daemon inserts before URLs of the site's files. Empty at a host name of the worker. */
  readonly prefix: string;
  /** True if the daemon inserts the public variables into the page. */
  readonly hasVariables: boolean;
  readonly coding: ContentCoding | undefined;
}

interface Insertions {
  readonly etag: string;
  /** Positions in bytes at which the daemon inserts the base path into the file. */
  readonly at: Uint32Array;
}

/** Creates and caches variants of the files of one site: with an inserted base path, with variables, or compressed. */
export class FileVariants {
  readonly #cache: StaticCache;
  readonly #compressed: CompressedFiles;
  readonly #injection: PageInjection | undefined;
  readonly #contains: ContainsFile;
  readonly #siteCache: SiteCache = new Map();
  /**
   * Insertion positions by path of the file in the site, oldest first. Every base path has the same positions. Clients can choose many base
   * paths, because the version range in the URL belongs to the base path.
   */
  readonly #insertions = new Map<string, Insertions>();
  readonly #underWay = new Map<string, Promise<StaticFile | undefined>>();
  #isRetired = false;

  constructor(options: { cache: StaticCache; compressed: CompressedFiles; injection: PageInjection | undefined; contains: ContainsFile }) {
    this.#cache = options.cache;
    this.#compressed = options.compressed;
    this.#injection = options.injection;
    this.#contains = options.contains;
  }

  /**
   * Returns the variant of a file for this request if the variant is in memory. Returns the file itself if the request needs no variant.
   * Otherwise returns undefined.
   */
  inMemory(exchange: WorkerExchange, file: StaticFile): StaticFile | undefined {
    const variation = this.#variationFor(exchange, file);
    return variation ? this.#siteCache.get(keyOf(file, variation))?.file : file;
  }

  /**
   * Returns the variant of a file for this request and creates it if necessary. If the variant does not need the handle of the file, closes
   * the handle.
   */
  async make(exchange: WorkerExchange, file: StaticFile): Promise<StaticFile> {
    const variation = this.#variationFor(exchange, file);
    if (!variation) return file;
    const key = keyOf(file, variation);
    let variant: StaticFile | undefined;
    try {
      variant = this.#siteCache.get(key)?.file ?? (await this.#makeOnce(key, file, variation));
    } catch (error) {
      await file.handle?.close();
      throw error;
    }
    if (!variant) return file;
    await file.handle?.close();
    // Adds the variant to the cache again at each use, because the cache removes the entry that was added first. For the file itself, the
    // check on the disk each second has the same effect.
    const learned = this.#variationFor(exchange, file);
    if (learned && !this.#isRetired) this.#cache.set(this.#siteCache, keyOf(file, learned), variant);
    return variant;
  }

  retire(): void {
    this.#isRetired = true;
    this.#insertions.clear();
    this.#cache.deleteAll(this.#siteCache);
  }

  #variationFor({ request, address }: WorkerExchange, file: StaticFile): Variation | undefined {
    const { href, prefix, hasVariables } = this.#injectionFor(address, file);
    // Sends the uncompressed file for a range request, because clients combine parts of several responses.
    const takesCoding = file.isCompressible && request.headers.range === undefined;
    const coding = takesCoding ? preferredCoding(request.headers["accept-encoding"]) : undefined;
    const isFile = href === undefined && prefix === "" && !hasVariables && coding === undefined;
    return isFile ? undefined : { href, prefix, hasVariables, coding };
  }

  #injectionFor(address: WorkerExchange["address"], file: StaticFile): Omit<Variation, "coding"> {
    const kind = this.#injection && file.sizeBytes <= mostRewrittenBytes ? rewrittenKind(file.type) : undefined;
    if (!this.#injection || kind === undefined) return nothing;
    const { base, variables } = this.#injection;
    const isPage = kind === "page";
    const hasVariables = isPage && Object.keys(variables).length > 0;
    if (base !== "rewrite") return isPage ? { href: hrefOf(base, address), prefix: "", hasVariables } : nothing;
    const known = this.#insertions.get(file.path);
    const isUnchanged = !isPage && known?.etag === file.etag && known.at.length === 0;
    return { href: undefined, prefix: isUnchanged ? "" : insertedBase(address.base), hasVariables };
  }

  /** Creates a variant once for all requests that wait for it. Resolves with undefined if the variant is the same as the file. */
  async #makeOnce(key: string, file: StaticFile, variation: Variation): Promise<StaticFile | undefined> {
    const underWay = this.#underWay.get(key);
    if (underWay) return underWay;
    const making = this.#make(file, variation);
    this.#underWay.set(key, making);
    try {
      return await making;
    } finally {
      this.#underWay.delete(key);
    }
  }

  async #make(file: StaticFile, variation: Variation): Promise<StaticFile | undefined> {
    const content = file.body ?? (await file.handle?.readFile());
    if (!content) return undefined;
    const injected = await this.#inject(file, content, variation);
    const whole = injected === content ? file : withContent(file, injected);
    const { coding } = variation;
    const compressed = coding && (await this.#compressed.compress(injected, coding));
    if (coding && compressed) return inCoding(whole, coding, compressed);
    return whole === file ? undefined : whole;
  }

  async #inject(file: StaticFile, content: Buffer, { href, prefix, hasVariables }: Variation): Promise<Buffer> {
    const kind = rewrittenKind(file.type) ?? "script";
    const at = prefix === "" ? undefined : await this.#insertionsOf(file, content, kind);
    const based = at && (kind === "page" || at.length > 0) ? withBasePath(content, kind, { base: prefix, at }) : content;
    if (href === undefined && !hasVariables) return based;
    return Buffer.from(injectIntoPage(based.toString("utf8"), href, this.#injection?.variables ?? {}));
  }

  async #insertionsOf({ path, etag }: StaticFile, content: Buffer, kind: "page" | "script"): Promise<Uint32Array> {
    const known = this.#insertions.get(path);
    const at = known?.etag === etag ? known.at : await findInsertions(content, kind, this.#contains);
    this.#insertions.delete(path);
    if (!this.#isRetired) this.#insertions.set(path, { etag, at });
    for (const oldest of this.#insertions.keys()) {
      if (this.#insertions.size <= mostKnownFiles) break;
      this.#insertions.delete(oldest);
    }
    return at;
  }
}

const nothing = { href: undefined, prefix: "", hasVariables: false } as const;

/** Returns the key of a variant in the cache. The ETag in the key stands for the content of the file. */
function keyOf({ path, etag }: StaticFile, { href, prefix, coding }: Variation): string {
  return [path, etag, href, prefix, coding].join("\n");
}

/** Returns the URL for the `<base>` element of the page at the address of the request. */
function hrefOf(base: "absolute" | "relative", { base: prefix, path }: WorkerExchange["address"]): string {
  const depth = path.split("/").length - 2;
  return base === "relative" ? "../".repeat(depth) || "./" : `${prefix}/`;
}

/** Returns the environment variables that pages are allowed to read. The name of each variable begins with one of the prefixes. */
export function publicVariables(env: Readonly<Record<string, string>>, prefixes: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => prefixes.some((prefix) => prefix !== "" && name.startsWith(prefix))));
}
