import { byLiteralness, matchRoutePattern, parseRoutePattern, type RoutePattern } from "../../web/route-pattern.js";
import type { Handler } from "./app-module.js";

interface Route extends RoutePattern {
  /** By method; `ALL` answers what no other does. */
  readonly handlers: ReadonlyMap<string, Handler>;
}

export interface RouteMatch {
  /** Undefined: the path is known, the method is not. */
  readonly handler: Handler | undefined;
  readonly params: Record<string, string>;
  readonly allow: string;
}

/** The `routes` of a module: `/path/:id` and a trailing `*`; the most literal pattern wins, then the first named. */
export class RouteTable {
  readonly #routes: readonly Route[];

  /** Throws when a pattern or its value has no meaning. */
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
