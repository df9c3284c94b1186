import type { AppInfo } from "../../plugin/index.js";
import type { PluginSet } from "./plugin-set.js";
import type { HostTarget } from "../web/http-exchange.js";
import { isBelow, pathOf } from "../web/reserved-paths.js";
import type { WorkerAt, WorkersPort } from "./plugin-router.js";

/** Nothing else is in a path that everybody reads the same way; what is encoded is looked at below. */
const plainCharacters = /^\/[\w\-.~!$&'()*+,;=:@%/]*$/;
/** What an app that decodes once more could take for a separator, a dot segment or an end. */
const risky = /%(?:2e|2f|5c|25|3f|23|[01][0-9a-f]|7f)/i;
/** A segment that leads elsewhere, also with the parameters that some frameworks cut off. */
const dotSegment = /(?:^|\/)\.{1,2}(?:[/;]|$)/;

/** As a manifest lists them: for any method, or by method. */
type DeclaredPublicRoutes = readonly string[] | Readonly<Record<string, readonly string[]>>;

/**
 * The routes of an app that request hooks leave alone: `*` stands for one segment, a trailing `**` for any rest. This decides about
 * access, so in doubt a path is not public: one that URL parsing would change never is.
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

  /** There are none: then nothing need be looked at. */
  get isEmpty(): boolean {
    return this.#anyMethod.length === 0 && this.#byMethod.size === 0;
  }

  /** `path` is the one below the app's base as it was sent, without a query; empty at the base itself. */
  has(path: string, { method, isHandshake }: { method: string; isHandshake: boolean }): boolean {
    if (this.isEmpty) return false;
    const wanted = path === "" ? "/" : path;
    const patterns = [...this.#anyMethod, ...this.#patternsOf(method, isHandshake)];
    if (patterns.length === 0 || !isUnambiguous(wanted)) return false;
    const segments = wanted.split("/").slice(1);
    return patterns.some((pattern) => matches(pattern, segments));
  }

  #patternsOf(method: string, isHandshake: boolean): readonly (readonly string[])[] {
    // A web socket is more than the GET that it begins as: only routes for any method are open to it.
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

/** What would answer a request if no hook did. */
export interface AppChoice {
  readonly info: AppInfo;
  readonly publicRoutes: PublicRoutes;
  /** The path that it would see; empty at its base. */
  readonly path: string;
}

/** Finds what a request is meant for; what it makes of a manifest is kept with it. */
export class AppFinder {
  readonly #workers: WorkersPort;
  readonly #publicRoutes = new WeakMap<DeclaredPublicRoutes, PublicRoutes>();
  readonly #infos = new WeakMap<WorkerAt["version"], AppInfo>();

  constructor(workers: WorkersPort) {
    this.#workers = workers;
  }

  /** Bases of plugins are paths of the daemon's own hosts: at a worker's host the whole path is the worker's. */
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

  /** Requests for one version mostly write its base the same way. */
  #infoOf({ version, base }: WorkerAt): AppInfo {
    const known = this.#infos.get(version);
    if (known?.base === base) return known;
    const { name, manifest } = version;
    const info: AppInfo = Object.freeze({ kind: "worker", name, version: version.version, base, visibility: manifest.visibility });
    this.#infos.set(version, info);
    return info;
  }
}
