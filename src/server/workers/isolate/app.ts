import type { Server } from "node:http";
import { types } from "node:util";
import type { LazyRequest } from "../../web/lazy-request.js";
import { toServer } from "./node-server/exported-server.js";
import type { ListeningServers } from "./node-server/listening-servers.js";
import { serveWith } from "./node-server/served-server.js";
import { PlainResponse } from "./plain-response.js";
import { byLiteralness, matchRoutePattern, parseRoutePattern, type RoutePattern } from "../../web/route-pattern.js";

/** The `fetch` function of a worker. Modules for Cloudflare Workers have the same parameters. */
type Handler = (request: LazyRequest, env: Record<string, unknown>, context: unknown) => unknown;

/** The functions of a worker module that the isolate calls. */
export interface App {
  readonly handle: Handler;
  onIdle(): unknown;
  onTerminate(): unknown;
}

type Bag = Record<string, unknown>;

const methodNames = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const noApp =
  "The module must export by default an object with fetch(request, env, ctx) or routes, or a function, or listen with a server of node:http.";
const otherServer = "The module listens with a server that does not use node:http. The daemon serves only HTTP servers of node:http.";

export interface AppSource {
  /** The namespace object of the worker's imported module. */
  readonly module: Bag;
  readonly servers: ListeningServers;
  /** Called with each error that a WebSocket listener of the worker throws. */
  readonly report: (error: unknown) => void;
}

/**
 * Returns the functions of the worker that handle requests and lifecycle events. Finds them in a default export with `fetch` or `routes`, a
 * default function, the module itself, an exported Node app, or a listening `http.Server`. Otherwise rejects with a TypeError.
 */
export async function findApp({ module, servers, report }: AppSource): Promise<App> {
  const { value: exported } = await settled(module["default"]);
  const { value: nested } = await settled(isBag(exported) ? exported["default"] : undefined);
  const candidates = [exported, nested, module["handler"], module];
  for (const candidate of candidates) {
    const server = await toServer(candidate);
    // Prefers the listening server to an exported app. Only the listening server has the upgrade listeners that the program has added.
    if (server) return toServerApp(candidate, servers.find() ?? server, report);
    const app = candidate === module["handler"] ? undefined : toApp(candidate);
    if (app) return app;
  }
  const server = servers.find() ?? (await listeningLater(module, servers));
  if (server) return toServerApp(module, server, report);
  throw new TypeError(servers.hasOtherServer ? otherServer : noApp);
}

/**
 * Awaits `value` if it is a promise. Returns the result inside an object: some routers return a function for every property, and `await`
 * would call the property `then` of such a router.
 */
async function settled(value: unknown): Promise<{ readonly value: unknown }> {
  return { value: types.isPromise(value) ? await value : value };
}

/**
 * Waits for a program that calls `listen` only after its module is loaded. Example: the main file of a NestJS app without a top-level
 * await.
 */
async function listeningLater(module: Bag, servers: ListeningServers): Promise<Server | undefined> {
  const isProgram = Object.values(module).every((value) => isBag(value) && typeof value !== "function" && Object.keys(value).length === 0);
  if (!isProgram) return undefined;
  const endMs = performance.now() + listenTimeoutMs;
  let quietChecks = 0;
  while (!servers.find() && quietChecks < mostQuietChecks && performance.now() < endMs) {
    await servers.next(listenCheckMs);
    quietChecks = isBusy() ? 0 : quietChecks + 1;
  }
  return servers.find();
}

/** Maximum time in ms from the load of the module to the call of `listen`. */
const listenTimeoutMs = 10_000;
const listenCheckMs = 50;
/** If this number of consecutive checks finds no pending work, the program can no longer call `listen`. */
const mostQuietChecks = 4;
/** Names of active resources that belong to the isolate itself. */
const ownResources = new Set(["PipeWrap", "TTYWrap", "Immediate", "TCPSocketWrap"]);

/** Returns whether the program waits for a file, a timer or a connection. */
function isBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => !ownResources.has(name));
}

function toServerApp(candidate: unknown, server: Server, report: (error: unknown) => void): App {
  const hooks = isBag(candidate) ? candidate : {};
  return { handle: serveWith(server, report), onIdle: hook(hooks, "onIdle"), onTerminate: hook(hooks, "onTerminate") };
}

function toApp(candidate: unknown): App | undefined {
  if (!isBag(candidate)) return undefined;
  const { routes } = candidate;
  const answer = fetchHandlerOf(candidate);
  // Ignores `routes` if it is an array, because routers such as Hono and itty-router have an array with this name. That array is not a
  // route table.
  const table = isBag(routes) && !Array.isArray(routes) && typeof routes !== "function" ? new RouteTable(routes, routeHandlers) : undefined;
  if (!answer && !table) return undefined;
  return {
    handle: table ? withRoutes(table, answer) : (answer as Handler),
    onIdle: hook(candidate, "onIdle"),
    onTerminate: hook(candidate, "onTerminate"),
  };
}

function fetchHandlerOf(candidate: Bag): Handler | undefined {
  if (typeof candidate["fetch"] === "function") {
    return (request, env, context) => (candidate["fetch"] as Handler).call(candidate, request, env, context);
  }
  if (typeof candidate === "function") return isFetchClass(candidate) ? perRequest(candidate) : candidate;
  const methods = methodNames.filter((name) => Object.hasOwn(candidate, name) && typeof candidate[name] === "function");
  if (methods.length === 0) return undefined;
  return withRoutes(new RouteTable({ "/*": Object.fromEntries(methods.map((name) => [name, candidate[name]])) }, routeHandlers), undefined);
}

type FetchClass = new (context: unknown, env: Record<string, unknown>) => { fetch: Handler };

/** Returns whether a function is a class with a `fetch` method, such as a `WorkerEntrypoint` from `cloudflare:workers`. */
function isFetchClass(candidate: unknown): candidate is FetchClass {
  const { prototype } = candidate as { prototype?: { fetch?: unknown } };
  return typeof prototype?.fetch === "function";
}

function perRequest(EntryPoint: FetchClass): Handler {
  return (request, env, context) => new EntryPoint(context, env).fetch(request, env, context);
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
  // Also checks with `in`, because some routers return a function for any property.
  if (!(name in candidate) || typeof candidate[name] !== "function") return () => undefined;
  return () => (candidate[name] as () => unknown)();
}

function isBag(value: unknown): value is Bag {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

interface Route extends RoutePattern {
  /** Handlers by HTTP method. `ALL` is for all methods without their own handler. */
  readonly handlers: ReadonlyMap<string, Handler>;
}

interface RouteMatch {
  /** Handler for the method of the request. Undefined if a route matches the path, but has no handler for the method. */
  readonly handler: Handler | undefined;
  readonly params: Record<string, string>;
  readonly allow: string;
}

/**
 * The `routes` of a module, with patterns such as `/path/:id` and a trailing `*`. If several match, the pattern with the most literal
 * segments has precedence, then the first one.
 */
class RouteTable {
  readonly #routes: readonly Route[];

  /** Throws if a pattern or its value is invalid. */
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
