import type { Plugin, RouteHandler } from "../../plugin/index.js";
import { byLiteralness, matchRoutePattern, parseRoutePattern, type RoutePattern } from "../web/route-pattern.js";

type Declared = NonNullable<NonNullable<Plugin["server"]>["routes"]>;

export interface RouteMatch {
  /** Handler for the request. Undefined if the pattern matches the path, but no handler exists for the method. */
  readonly handler: RouteHandler | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** Value of the `Allow` header. */
  readonly allow: string;
}

interface Route extends RoutePattern {
  /** One handler for all methods, or handlers by method. */
  readonly handlers: RouteHandler | ReadonlyMap<string, RouteHandler>;
}

const methodPattern = /^[A-Z]+$/;

/**
 * The `server.routes` of a plugin. A pattern is a path such as `/exact`, `/users/:id` or `/files/*`. If several match, the pattern with the
 * most literal segments has precedence, then the first one.
 */
export class ServerRoutes {
  /** The route patterns that the plugin declared. */
  readonly patterns: readonly string[];
  readonly #routes: readonly Route[];

  /** Throws TypeError if a pattern is invalid or has no handler as its value. */
  constructor(declared: Declared) {
    this.patterns = Object.keys(declared);
    this.#routes = Object.entries(declared)
      .map(([pattern, value]) => ({ ...toPattern(pattern), handlers: toHandlers(pattern, value) }))
      .toSorted(byLiteralness);
  }

  /**
   * Returns the route for a request. `path` begins with a slash and has no query. Does not decode the path, so `/%61` does not match the
   * pattern `/a`.
   */
  match(method: string, path: string): RouteMatch | undefined {
    const segments = path.split("/").slice(1);
    for (const route of this.#routes) {
      const params = matchRoutePattern(route, segments);
      if (params) return { params, ...choose(route.handlers, method) };
    }
    return undefined;
  }
}

function choose(handlers: Route["handlers"], method: string): Pick<RouteMatch, "handler" | "allow"> {
  if (typeof handlers === "function") return { handler: handlers, allow: "" };
  const handler = handlers.get(method) ?? (method === "HEAD" ? handlers.get("GET") : undefined);
  const isHeadImplied = handlers.has("GET") && !handlers.has("HEAD");
  return { handler, allow: [...handlers.keys(), ...(isHeadImplied ? ["HEAD"] : [])].join(", ") };
}

function toPattern(pattern: string): RoutePattern {
  const fail = (what: string): never => {
    throw new TypeError(`The server route ${JSON.stringify(pattern)} ${what}.`);
  };
  if (!pattern.startsWith("/")) fail("must start with a slash");
  if (/[?#]/.test(pattern)) fail("must be a path, without a query");
  const { segments, hasRest } = parseRoutePattern(pattern);
  if (segments.includes("*")) fail("can have a star only at its end");
  const names = segments.filter((part) => part.startsWith(":"));
  if (names.includes(":") || new Set(names).size < names.length) fail("must give each parameter a unique name");
  // Percent-encodes spaces and non-ASCII characters in the pattern, because request paths are percent-encoded.
  return { segments: segments.map((part) => part.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent)), hasRest };
}

function toHandlers(pattern: string, value: unknown): Route["handlers"] {
  if (typeof value === "function") return value as RouteHandler;
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const isSound = entries.length > 0 && entries.every(([method, handler]) => methodPattern.test(method) && typeof handler === "function");
  if (!isSound) throw new TypeError(`The server route ${JSON.stringify(pattern)} needs a function, or functions by method such as GET.`);
  return new Map(entries as [string, RouteHandler][]);
}
