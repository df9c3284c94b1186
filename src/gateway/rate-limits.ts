import { createHash } from "node:crypto";
import type { PluginContext, PluginCounter } from "../plugin/index.js";
import { BoundedLimiter, type LimiterState } from "./bounded-limiter.js";
import type { Client } from "./client-address.js";
import { PathPatterns, type RulePath } from "./path-patterns.js";
import type { RateLimitSettings } from "./settings.js";

/** Maximum number of tracked keys per rate limit rule, which limits memory. Each key takes about 512 bytes. */
const mostKeys = 100_000;
/** Maximum length of a stored path in characters. Longer paths are stored as a hash. */
const longestPath = 100;

interface Rule {
  readonly settings: RateLimitSettings;
  readonly paths: PathPatterns;
  readonly limiter: BoundedLimiter;
  /** Labels for the counters. The object is frozen, so that a counter can find its value by the object's identity. */
  readonly labels: Readonly<Record<string, string>>;
}

/** State of one rate limit rule: the rule that rejects the request, or if none does, the rule with the fewest remaining requests. */
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

/** Counts requests in all rate limit rules that apply to them. */
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

  /** Counts a request in each rule that applies, up to the first rule that rejects it. Returns undefined if no rule applies. */
  async count(request: Request, path: RulePath, client: () => Client, isPreflight: boolean): Promise<Verdict | undefined> {
    let tightest: Verdict | undefined;
    for (const { settings, paths, limiter, labels } of this.#rules) {
      if (!isAbout(settings.methods, request) || !paths.match(path)) continue;
      const { isRefused, remaining, resetMs } = await limiter.consume(this.#keyOf(settings, request, path, client));
      // If a preflight request were rejected, the page could not read the reason. Therefore, only the actual request is rejected, with a
      // readable error.
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

  /** Returns the text that identifies the caller by a header or an API key. Returns undefined for an unknown caller. */
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
