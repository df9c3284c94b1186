import type { Plugin, RouteHandler } from "../../plugin/index.js";

type Declared = NonNullable<NonNullable<Plugin["server"]>["routes"]>;

export interface RouteMatch {
  /** Undefined: the path is known, the method is not. */
  readonly handler: RouteHandler | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** For the header Allow. */
  readonly allow: string;
}

/** A plugin's `server.routes`. */
export class ServerRoutes {
  /** The patterns as they were declared. */
  readonly patterns: readonly string[];

  /** Throws TypeError when a pattern or its value has no meaning. */
  constructor(declared: Declared) {
    this.patterns = Object.keys(declared);
  }

  /** `path` starts with a slash and has no query. */
  match(_method: string, _path: string): RouteMatch | undefined {
    return undefined;
  }
}
