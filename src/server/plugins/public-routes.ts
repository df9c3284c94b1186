import type { AppInfo } from "../../plugin/index.js";
import type { PluginSet } from "./plugin-set.js";
import type { HostTarget } from "../web/http-exchange.js";
import { isBelow, pathOf } from "../web/reserved-paths.js";
import type { WorkerAt, WorkersPort } from "./plugin-router.js";

/**
 * Matches a path that contains only characters that all URL parsers interpret in the same way. A separate pattern checks percent-encoding.
 */
const plainCharacters = /^\/[\w\-.~!$&'()*+,;=:@%/]*$/;
/**
 * Matches percent-encoded characters that a worker could interpret as a separator, a dot segment or an end of text if it decodes the path
 * twice.
 */
const risky = /%(?:2e|2f|5c|25|3f|23|[01][0-9a-f]|7f)/i;
/** Matches a dot segment (`.` or `..`), with or without path parameters after `;`, which some frameworks remove. */
const dotSegment = /(?:^|\/)\.{1,2}(?:[/;]|$)/;

/** Public routes in a manifest: route patterns for all methods, or by method. */
type DeclaredPublicRoutes = readonly string[] | Readonly<Record<string, readonly string[]>>;

/**
 * Routes of a worker that skip `onRequest` hooks. `*` matches one segment, and a trailing `**` matches any further segments. The routes
 * decide about access, so a path that URL parsing would change is never public.
 */
export class PublicRoutes {
  readonly #anyMethod: readonly (readonly string[])[];
  readonly #byMethod: ReadonlyMap<string, readonly (readonly string[])[]>;

  constructor(declared: DeclaredPublicRoutes) {
    const isList = Array.isArray(declared);
    this.#anyMethod = isList ? toPatterns(declared) : [];
    const entries = isList ? [] : Object.entries(declared as Readonly<Record<string, readonly string[]>>);
    this.#byMethod = new Map(entries.map(([method, patterns]) => [method.toUpperCase(), toPatterns(patterns)]));
  }

  /** True if the worker has no public routes. No path then needs a check. */
  get isEmpty(): boolean {
    return this.#anyMethod.length === 0 && this.#byMethod.size === 0;
  }

  /**
   * Returns whether a path is public. `path` is the path below the worker's base, not decoded and without the query. `path` is empty for
   * the base itself.
   */
  has(path: string, { method, isHandshake }: { method: string; isHandshake: boolean }): boolean {
    if (this.isEmpty) return false;
    const wanted = path === "" ? "/" : path;
    const patterns = [...this.#anyMethod, ...this.#patternsOf(method, isHandshake)];
    if (patterns.length === 0 || !isUnambiguous(wanted)) return false;
    const segments = wanted.split("/").slice(1);
    return patterns.some((pattern) => matches(pattern, segments));
  }

  #patternsOf(method: string, isHandshake: boolean): readonly (readonly string[])[] {
    // A WebSocket connection transfers more than the GET request of its handshake. Only routes for all methods therefore apply to a
    // handshake.
    if (isHandshake) return [];
    return this.#byMethod.get(method) ?? (method === "HEAD" ? this.#byMethod.get("GET") : undefined) ?? [];
  }
}

function toPatterns(declared: readonly string[]): string[][] {
  return declared.map((pattern) => (pattern.startsWith("/") ? pattern.slice(1) : pattern).split("/"));
}

function isUnambiguous(path: string): boolean {
  if (!plainCharacters.test(path) || path.includes("//") || risky.test(path) || dotSegment.test(path)) return false;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  const hasRest = pattern.at(-1) === "**";
  const fixed = hasRest ? pattern.slice(0, -1) : pattern;
  if (hasRest ? segments.length < fixed.length : segments.length !== fixed.length) return false;
  return fixed.every((part, index) => (part === "*" ? segments[index] !== "" : part === segments[index]));
}

/** The worker or plugin that serves a request if no hook responds. */
export interface AppChoice {
  readonly info: AppInfo;
  readonly publicRoutes: PublicRoutes;
  /** Path below the base of the worker or plugin. Empty for the base itself. */
  readonly path: string;
}

/** Finds the worker or plugin that serves a request. Caches the parsed manifest data. */
export class AppFinder {
  readonly #workers: WorkersPort;
  readonly #publicRoutes = new WeakMap<DeclaredPublicRoutes, PublicRoutes>();
  readonly #infos = new WeakMap<WorkerAt["version"], AppInfo>();

  constructor(workers: WorkersPort) {
    this.#workers = workers;
  }

  /**
   * Returns the worker or plugin that serves a request target. At a worker's host name, the worker serves every path, so base paths of
   * plugins do not apply.
   */
  find({ withBase }: PluginSet, target: string, host: HostTarget | undefined): AppChoice | undefined {
    if (withBase.length > 0 && !host) {
      const path = pathOf(target);
      const plugin = withBase.find(({ base }) => base !== undefined && isBelow(path, base));
      if (plugin) {
        const { info, installed, base = "" } = plugin;
        return { info, publicRoutes: this.#routesOf(installed.manifest.publicRoutes), path: path.slice(base.length) };
      }
    }
    const worker = this.#workers.appAt(target, host);
    if (!worker) return undefined;
    return { info: this.#infoOf(worker), publicRoutes: this.#routesOf(worker.version.manifest.publicRoutes), path: worker.path };
  }

  #routesOf(declared: DeclaredPublicRoutes): PublicRoutes {
    let routes = this.#publicRoutes.get(declared);
    if (!routes) this.#publicRoutes.set(declared, (routes = new PublicRoutes(declared)));
    return routes;
  }

  /**
   * Returns the information that hooks receive about a worker version. Caches one object per version, because most requests have the same
   * base path.
   */
  #infoOf({ version, base }: WorkerAt): AppInfo {
    const known = this.#infos.get(version);
    if (known?.base === base) return known;
    const { name, manifest } = version;
    const info: AppInfo = Object.freeze({ kind: "worker", name, version: version.version, base, visibility: manifest.visibility });
    this.#infos.set(version, info);
    return info;
  }
}
