import type { AppInfo, PluginContext } from "../plugin/index.js";
import type { ErrorBody } from "../shared/api-error.js";
import { errorTable } from "../shared/errors.js";
import { ClientAddresses } from "./client-address.js";
import { Cors } from "./cors.js";
import { readRulePath, type RulePath } from "./path-patterns.js";
import { RateLimits, type Verdict } from "./rate-limits.js";
import { SecurityHeaders } from "./security-headers.js";
import type { Settings } from "./settings.js";

/** Applies the configured rules of the gateway: responds to requests that must not reach a worker, and adds headers to responses. */
export class Gateway {
  readonly #settings: Settings;
  readonly #addresses: ClientAddresses;
  readonly #cors: Cors | undefined;
  readonly #security: SecurityHeaders | undefined;
  #limits: RateLimits | undefined;
  #preflights: ReturnType<PluginContext["metrics"]["counter"]> | undefined;
  /** Rate limit results of the running requests. `complete` writes these results to the response headers. */
  readonly #verdicts = new WeakMap<Request, Verdict>();

  constructor(settings: Settings) {
    const { trustedProxies, cors, securityHeaders } = settings;
    this.#settings = settings;
    this.#addresses = new ClientAddresses(trustedProxies);
    this.#cors = cors.length > 0 ? new Cors(cors) : undefined;
    this.#security = securityHeaders ? new SecurityHeaders(securityHeaders) : undefined;
  }

  get handlesRequests(): boolean {
    return this.#settings.rateLimits.length > 0 || this.#cors !== undefined;
  }

  get changesAnswers(): boolean {
    return this.#cors !== undefined || this.#security !== undefined || this.#sendsLimitHeaders;
  }

  open({ auth, metrics }: PluginContext): void {
    if (this.#cors) this.#preflights = metrics.counter("gateway_preflights", "Preflight requests that the gateway answered, by CORS rule.");
    const { rateLimits } = this.#settings;
    if (rateLimits.length === 0) return;
    this.#limits = new RateLimits({
      rules: rateLimits,
      verify: (request) => auth.verify(request),
      limited: metrics.counter("gateway_limited", "Requests that a rate limit rejected, by rule."),
      allowed: metrics.counter("gateway_allowed", "Requests that a rate limit counted and allowed, by rule."),
    });
  }

  close(): void {
    this.#limits?.close();
  }

  /**
   * Returns a response if the gateway rejects the request or if the request is a preflight request. Returns undefined if the request
   * continues.
   */
  answer(request: Request, app: AppInfo | undefined): Promise<Response | undefined> | undefined {
    return this.#limits || request.method === "OPTIONS" ? this.#handle(request, readRulePath(request.url, app)) : undefined;
  }

  /** Returns the response with the configured headers added. */
  complete(response: Response, app: AppInfo | undefined, request: Request): Response {
    const path = readRulePath(request.url, app);
    const verdict = this.#verdicts.get(request);
    const change = (headers: Headers): void => {
      if (verdict) setLimitHeaders(headers, verdict);
      this.#apply(headers, request, path);
    };
    try {
      change(response.headers);
      return response;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      // Headers of responses from fetch() and Response.redirect() are immutable.
      const headers = new Headers(response.headers);
      change(headers);
      return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
    }
  }

  async #handle(request: Request, path: RulePath): Promise<Response | undefined> {
    const preflight = this.#cors?.preflight(request, path, this.#preflights);
    const verdict = await this.#limits?.count(request, path, () => this.#addresses.of(request), preflight !== undefined);
    if (verdict && this.#sendsLimitHeaders) this.#verdicts.set(request, verdict);
    const answer = verdict?.isRefused ? refusal(verdict) : preflight;
    // Sets the headers here too, because a response of an `onRequest` hook does not always pass through `onResponse`. Setting the headers
    // twice has no further effect.
    if (answer) this.#apply(answer.headers, request, path);
    return answer;
  }

  get #sendsLimitHeaders(): boolean {
    return this.#settings.rateLimitHeaders && this.#settings.rateLimits.length > 0;
  }

  #apply(headers: Headers, request: Request, path: RulePath): void {
    this.#cors?.apply(request, path, headers);
    this.#security?.apply(
      headers,
      () => request.headers.get("x-forwarded-proto")?.toLowerCase() === "https" && this.#addresses.of(request).isProxied,
    );
  }
}

function refusal(verdict: Verdict): Response {
  const seconds = Math.max(1, Math.ceil(verdict.resetMs / 1000));
  const body: ErrorBody = { error: { code: "RATE_LIMITED", message: `Too many requests. Retry in ${seconds} s.` } };
  const headers = new Headers({ "cache-control": "no-store", "retry-after": String(seconds) });
  setLimitHeaders(headers, verdict);
  return Response.json(body, { status: errorTable.RATE_LIMITED[0], headers });
}

/**
 * Sets the header fields `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` of draft-ietf-httpapi-ratelimit-headers-06. Clients
 * support this draft; later drafts use one combined field.
 */
function setLimitHeaders(headers: Headers, { limit, remaining, resetMs }: Verdict): void {
  headers.set("RateLimit-Limit", String(limit));
  headers.set("RateLimit-Remaining", String(remaining));
  headers.set("RateLimit-Reset", String(Math.ceil(resetMs / 1000)));
}
