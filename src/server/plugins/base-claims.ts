import type { ServerRoutes } from "./server-routes.js";

/** First segments of paths that belong to the runtime: `api`, the first of the API's prefix, `cpanel`, `.well-known`. */
export type ReservedSegments = ReadonlySet<string>;

/** Which plugin owns which base, while a set of plugins is put together. */
export class BaseClaims {
  readonly #reserved: ReservedSegments;
  readonly #owners = new Map<string, string>();

  constructor(reserved: ReservedSegments) {
    this.#reserved = reserved;
  }

  /** Takes a base for a plugin; why that cannot be, otherwise. */
  claim(name: string, base: string): string | undefined {
    if (this.#reserved.has(base.slice(1))) return `Its base ${base} belongs to the runtime. Give it another base.`;
    const owner = this.#owners.get(base);
    if (owner !== undefined && owner !== name) return `Its base ${base} is taken by the plugin ${owner}. Give it another base.`;
    this.#owners.set(base, name);
    return undefined;
  }

  /** The plugin is left out after all. */
  release(name: string): void {
    for (const [base, owner] of this.#owners) if (owner === name) this.#owners.delete(base);
  }

  /** Why these `server.routes` cannot be: one lies where only the runtime or another plugin answers. */
  refusal(name: string, routes: ServerRoutes): string | undefined {
    for (const pattern of routes.patterns) {
      const segment = pattern.split("/")[1] ?? "";
      const owner = this.#owners.get(`/${segment}`);
      if (this.#reserved.has(segment)) return `Its server route ${pattern} lies in the part of the runtime. Choose another path.`;
      if (owner !== undefined && owner !== name) return `Its server route ${pattern} lies below the base of the plugin ${owner}.`;
    }
    return undefined;
  }
}
