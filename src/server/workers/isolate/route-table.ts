import type { Handler } from "./app-module.js";

interface Route {
  readonly segments: readonly string[];
  readonly hasRest: boolean;
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
      .toSorted((a, b) => weight(b) - weight(a));
  }

  match(method: string, url: string): RouteMatch | undefined {
    const segments = pathSegments(url);
    for (const route of this.#routes) {
      const params = matchSegments(route, segments);
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
  const segments = pattern.split("/").slice(1);
  const hasRest = segments.at(-1) === "*";
  return { segments: hasRest ? segments.slice(0, -1) : segments, hasRest, handlers };
}

function weight(route: Route): number {
  const literal = route.segments.filter((segment) => !segment.startsWith(":")).length;
  return (route.hasRest ? 0 : 1_000_000) + literal * 1000 + route.segments.length;
}

function pathSegments(url: string): string[] {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", start);
  return url.slice(start + 1, query === -1 ? undefined : query).split("/");
}

function matchSegments(route: Route, segments: readonly string[]): Record<string, string> | undefined {
  if (route.hasRest ? segments.length < route.segments.length : segments.length !== route.segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, pattern] of route.segments.entries()) {
    const segment = segments[index] as string;
    if (!pattern.startsWith(":")) {
      if (pattern !== segment) return undefined;
      continue;
    }
    if (segment === "") return undefined;
    params[pattern.slice(1)] = decoded(segment);
  }
  if (route.hasRest) params["*"] = decoded(segments.slice(route.segments.length).join("/"));
  return params;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
