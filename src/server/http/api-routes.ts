import { Router } from "@koa/router";
import type { Context, Middleware } from "koa";

/**
 * The routes of the API. Those whose paths begin with the same segment below the base and have as many segments share a router: a router
 * tries its routes one after the other, and the contract has some sixty. A parameter never spans segments.
 */
export class ApiRoutes {
  readonly #base: string;
  readonly #routers = new Map<string, Router>();

  constructor(base: string) {
    this.#base = base;
  }

  add(path: string, method: string, layers: Middleware[]): void {
    this.#routerFor(path).register(path, [method.toLowerCase()], layers);
  }

  /** Hands a request on to the first route that takes it; to the next middleware when there is none. */
  dispatch(): Middleware {
    return (context, next) => {
      const { path, method } = context;
      const [route] = this.#match(path, method)?.pathAndMethod ?? [];
      if (!route) return next();
      context.params = route.params(path, route.captures(path));
      const { stack } = route as unknown as { stack: Middleware[] };
      const from = (index: number): unknown => stack[index]?.(context, async () => from(index + 1));
      return from(0);
    };
  }

  /** The methods that a path takes; empty when there is no such path. */
  allowedMethods({ path, method }: Context): string[] {
    const matched = this.#match(path, method)?.path ?? [];
    return [...new Set(matched.flatMap((layer) => layer.methods))].toSorted();
  }

  #match(path: string, method: string): ReturnType<Router["match"]> | undefined {
    return this.#routers.get(this.#groupOf(path))?.match(path, method);
  }

  #routerFor(path: string): Router {
    const group = this.#groupOf(path);
    const known = this.#routers.get(group);
    if (known) return known;
    const router = new Router({ sensitive: true, strict: true });
    this.#routers.set(group, router);
    return router;
  }

  /** Empty for a path that is not below the base. */
  #groupOf(path: string): string {
    if (!path.startsWith(`${this.#base}/`)) return "";
    const start = this.#base.length + 1;
    let end = path.indexOf("/", start);
    let group = path.slice(start, end === -1 ? undefined : end);
    for (; end !== -1; end = path.indexOf("/", end + 1)) group += "/";
    return group;
  }
}
