import type { ServerRoutes } from "./server-routes.js";

/** First path segments that are reserved for the daemon: `api`, the first segment of the API prefix, `cpanel`, `.well-known`. */
export type ReservedSegments = ReadonlySet<string>;

/** Assigns base paths to plugins while the daemon builds a new plugin set. Rejects reserved paths and paths of other plugins. */
export class BaseClaims {
  readonly #reserved: ReservedSegments;
  readonly #owners = new Map<string, string>();

  constructor(reserved: ReservedSegments) {
    this.#reserved = reserved;
  }

  /** Assigns a base path to a plugin. If the path is reserved or belongs to another plugin, returns an error text. */
  claim(name: string, base: string): string | undefined {
    if (this.#reserved.has(base.slice(1))) return `The base ${base} is reserved for the daemon. Choose another base.`;
    const owner = this.#owners.get(base);
    if (owner !== undefined && owner !== name) return `The base ${base} is in use by the plugin ${owner}. Choose another base.`;
    this.#owners.set(base, name);
    return undefined;
  }

  /** Frees the base paths of a plugin that failed to load. */
  release(name: string): void {
    for (const [base, owner] of this.#owners) if (owner === name) this.#owners.delete(base);
  }

  /** Returns an error text if a route in `server.routes` is below a reserved path segment or below the base path of another plugin. */
  refusal(name: string, routes: ServerRoutes): string | undefined {
    for (const pattern of routes.patterns) {
      const segment = pattern.split("/")[1] ?? "";
      const owner = this.#owners.get(`/${segment}`);
      if (this.#reserved.has(segment))
        return `The server route ${pattern} is below a path that is reserved for the daemon. Choose another path.`;
      if (owner !== undefined && owner !== name)
        return `The server route ${pattern} is below the base of the plugin ${owner}. Choose another path.`;
    }
    return undefined;
  }
}
