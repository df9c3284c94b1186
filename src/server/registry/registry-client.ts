import type { Readable } from "node:stream";
import type { Agent, Dispatcher } from "undici";
import { basicAuthorization, isUserAndPassword, parseChallenge, tokenIn, tokenUrl } from "./registry-auth.js";
import type { ProgressLimit } from "./progress-limit.js";
import { RegistryError } from "./registry-error.js";

/** Time limit for opening a connection. Also the time after which a call without progress fails. */
export const stallLimitMs = 2_000;
/** Maximum number of connections to one server. */
const mostConnections = 8;
/** Maximum number of redirects that a download follows. */
const mostRedirects = 3;
/** Maximum size of a response that is not a blob. */
const longestTextBytes = 1024 * 1024;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface RegistryAddress {
  /** Origin of the registry, such as `https://registry.example.org`. */
  readonly origin: string;
  /** Name of the repository, such as `team/runtimed`. */
  readonly repository: string;
}

export interface RegistryClientOptions extends RegistryAddress {
  /** Returns the current credential: `user:password`, a token, or undefined. Called again after the registry rejected it. */
  readonly credential: () => string | undefined;
}

interface Call {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the body. Called again if the registry asks for a credential. */
  readonly body?: () => Readable | string;
  readonly limit: ProgressLimit;
}

type Response = Dispatcher.ResponseData;

/**
 * HTTP client for one repository of an OCI registry (https://github.com/opencontainers/distribution-spec). Sends the credential only to the
 * registry and to the token server that the registry names.
 */
export class RegistryClient {
  readonly #options: RegistryClientOptions;
  readonly #registry: URL;
  readonly #agent: Agent;
  #authorization: string | undefined;

  private constructor(options: RegistryClientOptions, agent: Agent) {
    this.#options = options;
    this.#registry = new URL(options.origin);
    this.#agent = agent;
  }

  /** Returns a client, which connects at the first call. */
  static async at(options: RegistryClientOptions): Promise<RegistryClient> {
    const { default: undici } = await import("undici");
    const agent = new undici.Agent({ connections: mostConnections, connect: { timeout: stallLimitMs }, headersTimeout: 0, bodyTimeout: 0 });
    return new RegistryClient(options, agent);
  }

  /** Returns the URL of a resource in the repository, such as `blobs/sha256:0123`. */
  urlOf(resource: string): URL {
    return new URL(`/v2/${this.#options.repository}/${resource}`, this.#registry);
  }

  /**
   * Sends a request and follows redirects of a GET or HEAD. If the registry requests a credential (status 401), repeats the request once.
   * The caller reads the body or calls `textOf`. Throws RegistryError.
   */
  async send(url: URL, call: Call): Promise<Response> {
    let target = url;
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#sendAuthorised(target, call);
      if (!redirectStatuses.has(response.statusCode) || (call.method !== "GET" && call.method !== "HEAD")) return response;
      await discard(response);
      if (redirects === mostRedirects) throw RegistryError.unexpected(`it sent more than ${mostRedirects} redirects`);
      target = this.locationOf(response, target);
    }
  }

  /** Returns the URL in the header `Location`, which can be relative. Throws RegistryError. */
  locationOf({ headers }: Response, base: URL): URL {
    const { location } = headers;
    if (typeof location !== "string" || !URL.canParse(location, base.href)) throw RegistryError.unexpected("a response has no Location");
    const url = new URL(location, base);
    const isAccepted = url.protocol === "https:" || (url.protocol === "http:" && this.#registry.protocol === "http:");
    if (!isAccepted) throw RegistryError.unexpected("it names an address without HTTPS");
    return url;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #sendAuthorised(url: URL, call: Call): Promise<Response> {
    const isRegistry = url.origin === this.#registry.origin;
    const response = await this.#request(url, call, isRegistry ? this.#authorization : undefined);
    if (response.statusCode !== 401 || !isRegistry) return response;
    await discard(response);
    this.#authorization = await this.#authorise(response, call.limit);
    const second = await this.#request(url, call, this.#authorization);
    if (second.statusCode !== 401) return second;
    await discard(second);
    this.#authorization = undefined;
    throw new RegistryError("unauthorised", "rejects the credential (status 401)");
  }

  /** Returns the header `Authorization` that the challenge in a response with status 401 requires. */
  async #authorise({ headers }: Response, limit: ProgressLimit): Promise<string> {
    const header = headers["www-authenticate"];
    const challenge = parseChallenge(Array.isArray(header) ? header[0] : header);
    if (!challenge) throw RegistryError.unexpected("it asks for an unknown kind of credential");
    const credential = this.#readCredential();
    if (challenge.scheme === "basic") {
      if (credential === undefined || !isUserAndPassword(credential)) {
        throw new RegistryError("unauthorised", "requires a credential user:password (status 401)");
      }
      return basicAuthorization(credential);
    }
    if (credential !== undefined && !isUserAndPassword(credential)) return `Bearer ${credential}`;
    const url = tokenUrl(challenge, { registry: this.#registry, repository: this.#options.repository });
    const authorization = credential === undefined ? undefined : basicAuthorization(credential);
    const response = await this.#request(url, { method: "GET", limit }, authorization);
    const text = await textOf(response, limit);
    if (response.statusCode === 200) return `Bearer ${tokenIn(text)}`;
    throw new RegistryError("unauthorised", `requires a token, and its token server answers with status ${response.statusCode}`);
  }

  #readCredential(): string | undefined {
    try {
      return this.#options.credential();
    } catch (error) {
      throw new RegistryError("unauthorised", `requires a credential, which cannot be read: ${(error as Error).message}`, error);
    }
  }

  async #request(url: URL, { method, headers, body, limit }: Call, authorization: string | undefined): Promise<Response> {
    try {
      const response = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: { ...headers, ...(authorization !== undefined && { authorization }) },
        body: body?.() ?? null,
        signal: limit.signal,
      });
      limit.refresh();
      return response;
    } catch (error) {
      throw asRegistryError(error, limit);
    }
  }
}

/** Reads a response as text, at most 1 MiB. Throws RegistryError. */
export async function textOf({ body }: Response, limit: ProgressLimit): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      limit.refresh();
      size += (part as Buffer).length;
      if (size > longestTextBytes) throw RegistryError.unexpected("a response is longer than 1 MiB");
      parts.push(part as Buffer);
    }
  } catch (error) {
    throw asRegistryError(error, limit);
  }
  return Buffer.concat(parts).toString();
}

/** Converts an error of a call. The cause of an abort is the limit of the call or the stop of the daemon. */
export function asRegistryError(error: unknown, limit: ProgressLimit): RegistryError {
  if (error instanceof RegistryError) return error;
  return limit.isExceeded ? RegistryError.late(limit.limitMs) : RegistryError.unreachable(error);
}

/** Discards the rest of a response, so that its connection can be used again. */
export async function discard({ body }: Response): Promise<void> {
  await body.dump().catch(() => undefined);
}
