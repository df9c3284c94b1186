import { Router } from "@koa/router";
import type { Context, Middleware } from "koa";

/**
 * The routes of the API, a router for each first segment of a path below the base: a router tries its routes one after the other, and
 * the contract has some sixty.
 */
export class ApiRoutes {
  readonly #base: string;
  readonly #routers = new Map<string, { readonly router: Router; readonly dispatch: Middleware }>();

  constructor(base: string) {
    this.#base = base;
  }

  add(path: string, method: string, layers: Middleware[]): void {
    this.#routerFor(path).register(path, [method.toLowerCase()], layers);
  }

  /** Hands a request on to the route that takes it; to the next middleware when there is none. */
  dispatch(): Middleware {
    return (context, next) => this.#routers.get(this.#segmentOf(context.path))?.dispatch(context, next) ?? next();
  }

  /** The methods that a path takes; empty when there is no such path. */
  allowedMethods({ path, method }: Context): string[] {
    const matched = this.#routers.get(this.#segmentOf(path))?.router.match(path, method).path ?? [];
    return [...new Set(matched.flatMap((layer) => layer.methods))].toSorted();
  }

  #routerFor(path: string): Router {
    const segment = this.#segmentOf(path);
    const known = this.#routers.get(segment);
    if (known) return known.router;
    const router = new Router({ sensitive: true, strict: true });
    this.#routers.set(segment, { router, dispatch: router.routes() as unknown as Middleware });
    return router;
  }

  /** Empty for a path that is not below the base. */
  #segmentOf(path: string): string {
    if (!path.startsWith(`${this.#base}/`)) return "";
    const start = this.#base.length + 1;
    const end = path.indexOf("/", start);
    return path.slice(start, end === -1 ? undefined : end);
  }
}
