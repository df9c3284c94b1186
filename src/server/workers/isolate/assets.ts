import { createHash } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { relativeFilePath } from "../../web/file-path.js";
import { isExcludedAsset, type AssetsOrder } from "../protocol/assets-order.js";

/** Maximum size in bytes of a file that the isolate reads as a whole. The isolate streams a larger file and sends no ETag for it. */
const readAtOnceBytes = 256 * 1024;

interface Found {
  readonly file: string;
  readonly stats: Stats;
}

/**
 * Implements `env.ASSETS`, which serves the files in `assets` of the manifest. Follows the same rules as the daemon, but supports no ranges
 * and no compression.
 */
export class Assets {
  readonly #order: AssetsOrder;
  readonly #folder: string;

  constructor(order: AssetsOrder, appFolder: string) {
    this.#order = order;
    this.#folder = path.join(appFolder, order.directory);
  }

  /** Resolves with the response for the path of `input`, which is a request or a URL. */
  readonly fetch = async (input: Request | string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    if (request.method !== "GET" && request.method !== "HEAD")
      return new Response("Method Not Allowed", { status: 405, headers: { allow: "GET, HEAD" } });
    const { pathname, search } = new URL(request.url);
    const relative = relativeFilePath(this.#withoutBase(pathname));
    const found = relative === undefined ? undefined : await this.#find(relative);
    if (found === "directory") return new Response(null, { status: 308, headers: { location: `./${path.basename(pathname)}/${search}` } });
    if (found) return this.#respond(request, found, 200);
    const { notFound } = this.#order;
    const page = notFound && (await this.#stat(notFound === "spa" ? "index.html" : "404.html"));
    if (page?.stats.isFile()) return this.#respond(request, page, notFound === "spa" ? 200 : 404);
    return new Response("Not Found", { status: 404 });
  };

  /**
   * Removes the base path, such as `/@team/app` or `/@team/app@1.0.0`, from a path. At a host name of the worker, a path has no base path.
   */
  #withoutBase(pathname: string): string {
    const { nameInPaths } = this.#order;
    if (nameInPaths === undefined || !pathname.startsWith(`/${nameInPaths}`)) return pathname;
    const rest = pathname.slice(nameInPaths.length + 1);
    return rest.startsWith("/") ? rest : rest.startsWith("@") && rest.includes("/") ? rest.slice(rest.indexOf("/")) : pathname;
  }

  async #find(relative: string): Promise<Found | "directory" | undefined> {
    const isFolder = relative === "" || relative.endsWith("/");
    const found = await this.#stat(isFolder ? `${relative}index.html` : relative);
    if (found?.stats.isFile()) return found;
    if (isFolder) return undefined;
    if (found && (await this.#stat(`${relative}/index.html`))?.stats.isFile()) return "directory";
    const page = await this.#stat(`${relative}.html`);
    return page?.stats.isFile() ? page : undefined;
  }

  async #stat(file: string): Promise<Found | undefined> {
    if (isExcludedAsset(file, this.#order)) return undefined;
    const stats = await stat(path.join(this.#folder, file)).catch(() => undefined);
    return stats && { file, stats };
  }

  async #respond(request: Request, { file, stats }: Found, status: number): Promise<Response> {
    const absolute = path.join(this.#folder, file);
    const type = this.#order.types[path.extname(file)] ?? "application/octet-stream";
    const isImmutable = this.#order.immutable.some((folder) => file.startsWith(path.join(folder, "/")));
    const headers = {
      "cache-control": isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
      ...Object.fromEntries(this.#order.headers),
      "content-type": type,
      "content-length": String(stats.size),
    };
    if (stats.size > readAtOnceBytes) {
      const body = request.method === "HEAD" ? null : (Readable.toWeb(createReadStream(absolute)) as ReadableStream);
      return new Response(body, { status, headers });
    }
    const content = await readFile(absolute);
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    if (status === 200 && request.headers.get("if-none-match")?.includes(etag))
      return new Response(null, { status: 304, headers: { etag } });
    return new Response(request.method === "HEAD" ? null : content, { status, headers: { ...headers, etag } });
  }
}
