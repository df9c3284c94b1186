import { createHash } from "node:crypto";
import type { PluginContext, PluginCounter } from "../plugin/index.js";
import { BoundedLimiter, type LimiterState } from "./bounded-limiter.js";
import type { Client } from "./client-address.js";
import { PathPatterns, type RulePath } from "./path-patterns.js";
import type { RateLimitSettings } from "./settings.js";

/** Maximum number of rate limit keys that one rate limit rule tracks. At about 512 bytes per key, one rule needs at most about 51 MB. */
const mostKeys = 100_000;
/** Maximum length in characters of a path in a rate limit key. A longer path is replaced by its hash. */
const longestPath = 100;

interface Rule {
  readonly settings: RateLimitSettings;
  readonly paths: PathPatterns;
  readonly limiter: BoundedLimiter;
  /**
   * Labels of the plugin counter for this rule. The object is frozen, because a plugin counter finds the value of a frozen object fastest.
   */
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Rate limit state of one request. If a rule rejects the request, this is the state of that rule. Otherwise, this is the state of the rule
 * with the fewest remaining requests.
 */
export interface Verdict extends LimiterState {
  readonly rule: string;
  readonly limit: number;
}

export interface RateLimitsOptions {
  readonly rules: readonly RateLimitSettings[];
  readonly verify: PluginContext["auth"]["verify"];
  readonly limited: PluginCounter;
  readonly allowed: PluginCounter;
}

/** Counts each request in all rate limit rules that apply to the request. */
export class RateLimits {
  readonly #rules: readonly Rule[];
  readonly #options: RateLimitsOptions;

  constructor(options: RateLimitsOptions) {
    this.#options = options;
    this.#rules = options.rules.map((settings) => ({
      settings,
      paths: new PathPatterns(settings.paths),
      labels: Object.freeze({ rule: settings.name }),
      limiter: new BoundedLimiter({ limit: settings.limit, windowMs: settings.window, blockMs: settings.block, mostKeys }),
    }));
  }

  /**
   * Counts a request in each rule that applies to the request. Stops at the first rule that rejects the request. Returns undefined if no
   * rule applies.
   */
  async count(request: Request, path: RulePath, client: () => Client, isPreflight: boolean): Promise<Verdict | undefined> {
    let tightest: Verdict | undefined;
    for (const { settings, paths, limiter, labels } of this.#rules) {
      if (!isAbout(settings.methods, request) || !paths.match(path)) continue;
      const { isRefused, remaining, resetMs } = await limiter.consume(this.#keyOf(settings, request, path, client));
      // Rejects the actual request instead of the preflight request, because a page cannot read the response to a rejected preflight
      // request.
      const refuses = isRefused && (!isPreflight || settings.methods.includes("OPTIONS"));
      const verdict = { rule: settings.name, limit: settings.limit, isRefused: refuses, remaining, resetMs };
      (refuses ? this.#options.limited : this.#options.allowed).add(labels);
      if (refuses) return verdict;
      if (!tightest || verdict.remaining < tightest.remaining) tightest = verdict;
    }
    return tightest;
  }

  close(): void {
    for (const { limiter } of this.#rules) limiter.clear();
  }

  #keyOf({ by, keyHeader }: RateLimitSettings, request: Request, path: RulePath, client: () => Client): string {
    const address = (): string => client().address?.network ?? "unknown";
    const parts = by.map((part) => {
      if (part === "client") return address();
      if (part === "path") return path.canonical.length > longestPath ? hash(path.canonical) : path.canonical;
      return this.#whose(request, keyHeader) ?? address();
    });
    return parts.join("\n");
  }

  /**
   * Returns the text that identifies the caller: the value of the configured header, or the API key's id. Returns undefined if the request
   * has neither.
   */
  #whose(request: Request, keyHeader: string | undefined): string | undefined {
    if (keyHeader !== undefined) {
      const value = request.headers.get(keyHeader);
      return value === null ? undefined : `header ${hash(value)}`;
    }
    const principal = this.#options.verify(request);
    return principal && `key ${principal.id}`;
  }
}

/** Returns whether a rule applies to the method of a request. HEAD counts as GET. */
function isAbout(methods: readonly string[], { method }: Request): boolean {
  return methods.length === 0 || methods.includes(method) || (method === "HEAD" && methods.includes("GET"));
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
