import http, { type RequestListener, type Server } from "node:http";

type Bag = Record<string, unknown>;

/** Matches the usual names of the second parameter, the response, of a node:http handler. */
const responseName = /^(?:_*res|_*resp|_*response|_*reply)$/i;
/**
 * Pattern for members of `ServerResponse` that a node:http handler uses. `env`, the second parameter of a fetch handler, rarely has such
 * members.
 */
const responseMembers = "(?:end|writeHead|setHeader|statusCode|write|pipe)\\b";

/**
 * Returns the `http.Server` of an exported value, which is a server, an app of Express, Koa, Fastify or NestJS, or a handler `(req, res)`.
 * Returns undefined for another value.
 */
export async function toServer(exported: unknown): Promise<Server | undefined> {
  if (exported instanceof http.Server) return exported;
  if (typeof exported === "function") return isRequestListener(exported) ? http.createServer(exported as RequestListener) : undefined;
  if (typeof exported !== "object" || exported === null) return undefined;
  const app = exported as Bag;
  // Detects an app of Fastify.
  if (app["server"] instanceof http.Server && isMethod(app, "ready") && isMethod(app, "inject")) {
    await call(app, "ready");
    return app["server"];
  }
  // Detects an app of Koa.
  if (Array.isArray(app["middleware"]) && isMethod(app, "callback")) return http.createServer(call(app, "callback") as RequestListener);
  // Detects an app of NestJS.
  if (isMethod(app, "getHttpServer") && isMethod(app, "init")) {
    await call(app, "init");
    const server = call(app, "getHttpServer");
    return server instanceof http.Server ? server : undefined;
  }
  return undefined;
}

/**
 * Returns whether a function is a handler `(req, res)` of node:http. Reads the source code of the function, because a fetch handler can
 * also have two parameters.
 */
function isRequestListener(exported: object): boolean {
  const app = exported as Bag & { readonly length: number };
  if (isMethod(app, "fetch")) return false;
  // Detects apps of Express and connect by their methods `handle` and `use`.
  if (isMethod(app, "handle") && isMethod(app, "use")) return true;
  if (app.length < 2) return false;
  const source = Function.prototype.toString.call(exported);
  const second = /^[^(]*\(\s*[^,()]+,\s*([\w$]+)/.exec(source)?.[1];
  if (second === undefined) return false;
  return responseName.test(second) || new RegExp(`(?<![\\w$.])${second.replaceAll("$", "\\$")}\\.${responseMembers}`).test(source);
}

function isMethod(bag: Bag, name: string): boolean {
  // Checks with `in`, because some routers return a function for any property.
  return name in bag && typeof bag[name] === "function";
}

function call(bag: Bag, name: string): unknown {
  return (bag[name] as () => unknown)();
}
