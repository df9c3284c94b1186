import type { LazyRequest } from "../../web/lazy-request.js";
import { PlainResponse } from "./plain-response.js";
import { byLiteralness, matchRoutePattern, parseRoutePattern, type RoutePattern } from "../../web/route-pattern.js";

/** The signature of `fetch`, the same as that of Cloudflare Workers modules. */
type Handler = (request: LazyRequest, env: Record<string, string>, context: unknown) => unknown;

/** The functions of a worker module that the isolate calls. */
export interface App {
  readonly handle: Handler;
  onIdle(): unknown;
  onTerminate(): unknown;
}

type Bag = Record<string, unknown>;

/**
 * Returns the worker's functions: from a default export with `fetch` or `routes`, a default function, or the module itself. Throws a
 * TypeError otherwise.
 */
export function findApp(module: Bag): App {
  const exported = module["default"];
  const nested = isBag(exported) ? exported["default"] : undefined;
  for (const candidate of [exported, nested, module]) {
    const app = toApp(candidate);
    if (app) return app;
  }
  throw new TypeError("The module must export by default an object with fetch(request, env, ctx) or routes, or a function.");
}

function toApp(candidate: unknown): App | undefined {
  if (!isBag(candidate)) return undefined;
  const { fetch, routes } = candidate;
  const answer: Handler | undefined =
    typeof fetch === "function"
      ? (request, env, context) => (candidate["fetch"] as Handler).call(candidate, request, env, context)
      : typeof candidate === "function"
        ? candidate
        : undefined;
  // Routers such as Hono and itty-router have an array `routes`, which is not a route table.
  const table = isBag(routes) && !Array.isArray(routes) && typeof routes !== "function" ? new RouteTable(routes, routeHandlers) : undefined;
  if (!answer && !table) return undefined;
  return {
    handle: table ? withRoutes(table, answer) : (answer as Handler),
    onIdle: hook(candidate, "onIdle"),
    onTerminate: hook(candidate, "onTerminate"),
  };
}

function withRoutes(table: RouteTable, answer: Handler | undefined): Handler {
  return (request, env, context) => {
    const match = table.match(request.method, request.url);
    if (match?.handler) {
      request.params = match.params;
      return match.handler(request, env, context);
    }
    if (answer) return answer(request, env, context);
    if (match) return new PlainResponse("Method Not Allowed", { status: 405, headers: { allow: match.allow } });
    return new PlainResponse("Not Found", { status: 404 });
  };
}

function routeHandlers(value: unknown, pattern: string): ReadonlyMap<string, Handler> {
  if (typeof value === "function") return new Map([["ALL", value as Handler]]);
  if (value instanceof PlainResponse) return new Map([["ALL", () => value.clone()]]);
  if (!isBag(value)) throw new TypeError(`The route ${JSON.stringify(pattern)} must be a function, a Response or an object of methods.`);
  const handlers = new Map<string, Handler>();
  for (const [method, handler] of Object.entries(value)) {
    for (const one of routeHandlers(handler, `${method} ${pattern}`).values()) handlers.set(method.toUpperCase(), one);
  }
  return handlers;
}

function hook(candidate: Bag, name: "onIdle" | "onTerminate"): () => unknown {
  // The operator `in` is needed because some routers return a function for any property.
  if (!(name in candidate) || typeof candidate[name] !== "function") return () => undefined;
  return () => (candidate[name] as () => unknown)();
}

function isBag(value: unknown): value is Bag {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

interface Route extends RoutePattern {
  /** By method; `ALL` matches methods without a handler of their own. */
  readonly handlers: ReadonlyMap<string, Handler>;
}

interface RouteMatch {
  /** Undefined when the path matches and the method does not. */
  readonly handler: Handler | undefined;
  readonly params: Record<string, string>;
  readonly allow: string;
}

/** The `routes` of a module, with patterns such as `/path/:id` and a trailing `*`. The most literal pattern wins, then the first one. */
class RouteTable {
  readonly #routes: readonly Route[];

  /** Throws when a pattern or its value is invalid. */
  constructor(routes: Record<string, unknown>, toHandler: (value: unknown, pattern: string) => ReadonlyMap<string, Handler>) {
    this.#routes = Object.entries(routes)
      .map(([pattern, value]) => toRoute(pattern, toHandler(value, pattern)))
      .toSorted(byLiteralness);
  }

  match(method: string, url: string): RouteMatch | undefined {
    const segments = pathSegments(url);
    for (const route of this.#routes) {
      const params = matchRoutePattern(route, segments);
      if (!params) continue;
      const handler =
        route.handlers.get(method) ?? (method === "HEAD" ? route.handlers.get("GET") : undefined) ?? route.handlers.get("ALL");
      return { handler, params, allow: [...route.handlers.keys()].join(", ") };
    }
    return undefined;
  }
}

function toRoute(pattern: string, handlers: ReadonlyMap<string, Handler>): Route {
  if (!pattern.startsWith("/")) throw new TypeError(`The route ${JSON.stringify(pattern)} must start with a slash.`);
  return { ...parseRoutePattern(pattern), handlers };
}

function pathSegments(url: string): string[] {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", start);
  return url.slice(start + 1, query === -1 ? undefined : query).split("/");
}
