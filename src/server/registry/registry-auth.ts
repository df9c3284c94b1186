import { RegistryError } from "./registry-error.js";

/** Maximum length of a token in bytes. A longer token would exceed the limit of headers of common servers. */
const longestTokenBytes = 16 * 1024;

/** A challenge in the header `WWW-Authenticate` of a response with status 401. */
export interface Challenge {
  readonly scheme: "basic" | "bearer";
  /** Parameters in lower case, such as `realm` and `service`. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Returns the first challenge that the daemon can answer, or undefined. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const [, scheme, rest] = /^\s*(basic|bearer)\s+(.*)$/is.exec(header ?? "") ?? [];
  if (scheme === undefined || rest === undefined) return undefined;
  const parameters = new Map<string, string>();
  for (const [, name, quoted, plain] of rest.matchAll(/([a-z_]+)=(?:"([^"]*)"|([^\s,"]*))/gi)) {
    parameters.set((name as string).toLowerCase(), quoted ?? plain ?? "");
  }
  return { scheme: scheme.toLowerCase() as Challenge["scheme"], parameters };
}

/** Returns the header `Authorization` for a credential `user:password`. */
export function basicAuthorization(credential: string): string {
  return `Basic ${Buffer.from(credential).toString("base64")}`;
}

/** Returns whether a credential is `user:password` and not a token. */
export function isUserAndPassword(credential: string): boolean {
  return credential.includes(":");
}

/**
 * Returns the URL at which the daemon requests a token. If the registry uses HTTPS, the token server must use HTTPS too, because the daemon
 * sends its credential to the token server. Throws RegistryError.
 */
export function tokenUrl({ parameters }: Challenge, { registry, repository }: { registry: URL; repository: string }): URL {
  const realm = parameters.get("realm") ?? "";
  if (!URL.canParse(realm)) throw RegistryError.unexpected("its token challenge has no realm");
  const url = new URL(realm);
  const isAccepted = url.protocol === "https:" || (url.protocol === "http:" && registry.protocol === "http:");
  if (!isAccepted || url.username !== "") throw RegistryError.unexpected("its token server does not use HTTPS");
  const service = parameters.get("service");
  if (service !== undefined) url.searchParams.set("service", service);
  url.searchParams.set("scope", `repository:${repository}:pull,push`);
  return url;
}

/** Returns the token in a response of a token server. Throws RegistryError. */
export function tokenIn(text: string): string {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw RegistryError.unexpected("the response of its token server is not JSON");
  }
  const { token, access_token: accessToken } = (answer ?? {}) as Record<string, unknown>;
  const found = token ?? accessToken;
  if (typeof found === "string" && found.length <= longestTokenBytes && /^[\x21-\x7e]+$/.test(found)) return found;
  throw RegistryError.unexpected("its token server sent no token");
}
