import type { PluginCounter } from "../plugin/index.js";
import { Origins } from "./origins.js";
import { PathPatterns, type RulePath } from "./path-patterns.js";
import type { CorsSettings } from "./settings.js";

const allowOrigin = "access-control-allow-origin";
const allowCredentials = "access-control-allow-credentials";
const exposeHeaders = "access-control-expose-headers";
/**
 * Matches a list of header names. The preflight response repeats the value of Access-Control-Request-Headers only if that value matches.
 */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:, ?[\w!#$%&'*+.^`|~-]+)*$/;

interface Rule {
  readonly settings: CorsSettings;
  readonly paths: PathPatterns;
  readonly origins: Origins;
}

/**
 * Applies the configured CORS rules. If a rule covers the path of a request, the gateway overrides the CORS headers of the worker's
 * response.
 */
export class Cors {
  readonly #rules: readonly Rule[];

  constructor(settings: readonly CorsSettings[]) {
    this.#rules = settings.map((rule) => ({ settings: rule, paths: new PathPatterns(rule.paths), origins: new Origins(rule.origins) }));
  }

  /** Returns the response to a preflight request. Returns undefined for other requests, or if no rule covers the path. */
  preflight(request: Request, path: RulePath, preflights: PluginCounter | undefined): Response | undefined {
    const origin = request.headers.get("origin");
    if (request.method !== "OPTIONS" || origin === null || !request.headers.has("access-control-request-method")) return undefined;
    const covering = this.#covering(path);
    if (covering.length === 0) return undefined;
    const rule = covering.find(({ origins }) => origins.allows(origin));
    preflights?.add({ rule: rule?.settings.name ?? "none" });
    const headers = new Headers({ vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers" });
    if (!rule) return new Response(null, { status: 204, headers });
    const { methods, allowedHeaders, maxAge } = rule.settings;
    allow(rule, origin, headers);
    headers.set("access-control-allow-methods", methods.join(", "));
    const asked = request.headers.get("access-control-request-headers") ?? "";
    const allowed = allowedHeaders.includes("*") ? headerNames.exec(asked)?.[0] : allowedHeaders.join(", ");
    if (allowed) headers.set("access-control-allow-headers", allowed);
    if (maxAge !== undefined) headers.set("access-control-max-age", String(maxAge / 1000));
    return new Response(null, { status: 204, headers });
  }

  /** Sets the CORS headers of a response. Repeated calls for the same response give the same headers. */
  apply(request: Request, path: RulePath, headers: Headers): void {
    const covering = this.#covering(path);
    const [first] = covering;
    if (!first) return;
    const origin = request.headers.get("origin");
    // If a rule allows all origins, the response is the same for every origin. A cache therefore needs only one entry.
    if (first.origins.isAnybody) return allow(first, origin ?? "*", headers);
    addVary(headers, "Origin");
    if (origin === null) return;
    const rule = covering.find(({ origins }) => origins.allows(origin));
    if (rule) return allow(rule, origin, headers);
    for (const name of [allowOrigin, allowCredentials, exposeHeaders]) headers.delete(name);
  }

  #covering(path: RulePath): readonly Rule[] {
    return this.#rules.filter(({ paths }) => paths.match(path));
  }
}

function allow({ settings, origins }: Rule, origin: string, headers: Headers): void {
  headers.set(allowOrigin, origins.isAnybody ? "*" : origin);
  if (settings.credentials) headers.set(allowCredentials, "true");
  else headers.delete(allowCredentials);
  if (settings.exposedHeaders.length > 0) headers.set(exposeHeaders, settings.exposedHeaders.join(", "));
  else headers.delete(exposeHeaders);
}

function addVary(headers: Headers, name: string): void {
  const present = (headers.get("vary") ?? "").split(",").map((entry) => entry.trim().toLowerCase());
  if (!present.includes("*") && !present.includes(name.toLowerCase())) headers.append("vary", name);
}
