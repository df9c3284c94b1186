import type { IncomingHttpHeaders } from "node:http";
import type { PanelHost } from "../web/panel-host.js";
import { hash, randomBytes } from "node:crypto";

export const sessionCookieName = "runtime_api_key";
/**
 * Name of the session cookie over HTTPS. Browsers accept a cookie with the prefix `__Host-` only from the host itself. A page of another
 * host therefore cannot set this cookie.
 */
export const hostSessionCookieName = `__Host-${sessionCookieName}`;
/**
 * Maximum length of a text that the daemon hashes as a key. All keys are shorter. With longer texts, a client could waste CPU time of the
 * daemon.
 */
const maximumSecretLength = 512;
/**
 * Maximum number of session cookies that the daemon checks per request. A request can contain many, because a page of a worker can set
 * further cookies with the same name.
 */
const maximumSessionCookies = 8;
/** Prefix of every generated key. */
export const keyPrefixLiteral = "rtk_";
const randomByteCount = 32;
/** Number of characters of a key that lists and logs show, including the prefix `rtk_`. */
const shownCharacterCount = 12;

/**
 * Part of the request that contains the credential. A key in a header skips the hooks of plugins. The root key in a header also skips the
 * Origin check.
 */
export type CredentialChannel = "header" | "cookie";

export interface Credential {
  readonly secret: string;
  readonly channel: CredentialChannel;
}

/**
 * Returns the credentials of a request, in the order in which the daemon checks these. If a panel host is configured, session cookies are
 * valid only at that host.
 */
export function credentialsOf(headers: IncomingHttpHeaders, panelHost: PanelHost | undefined): Credential[] {
  const { authorization, cookie = "", "x-api-key": apiKey } = headers;
  const found: Credential[] = [];
  const add = (secret: string | undefined, channel: CredentialChannel): void => {
    if (couldBeKey(secret)) found.push({ secret, channel });
  };
  if (typeof apiKey === "string") add(apiKey, "header");
  if (authorization !== undefined) add(/^Bearer +(\S.*)$/i.exec(authorization)?.[1], "header");
  if (cookie.includes(sessionCookieName) && (panelHost === undefined || panelHost.matches(headers.host)))
    for (const value of sessionCookiesOf(cookie).slice(0, maximumSessionCookies)) add(value, "cookie");
  return found;
}

/**
 * Returns whether a request has session cookies with different values. The daemon has set at most one of these values, so a page of a
 * worker has possibly set the others.
 */
export function hasSeveralSessionCookies({ cookie = "" }: IncomingHttpHeaders): boolean {
  return valuesOf(cookie, sessionCookieName).length > 1;
}

function sessionCookiesOf(header: string): string[] {
  const [own] = valuesOf(header, hostSessionCookieName);
  return own === undefined ? valuesOf(header, sessionCookieName) : [own];
}

/** Returns the different values of the cookies with this name, percent-decoded. Omits values that cannot be a key. */
function valuesOf(header: string, name: string): string[] {
  const values = new Set<string>();
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || trimmed(pair.slice(0, equals)) !== name) continue;
    const value = trimmed(pair.slice(equals + 1));
    const secret = decoded(value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value);
    if (couldBeKey(secret)) values.add(secret);
  }
  return [...values];
}

function couldBeKey(secret: string | undefined): secret is string {
  return secret !== undefined && secret !== "" && secret.length <= maximumSecretLength;
}

/** Removes the spaces and tabs that browsers ignore around cookie names and values. `trim` would also remove other white space. */
function trimmed(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, "");
}

function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Returns a new random API key: `rtk_` and 43 base64url characters. */
export function createKeySecret(): string {
  return keyPrefixLiteral + randomBytes(randomByteCount).toString("base64url");
}

/** Returns the first characters of a key, which lists and logs show. */
export function shownPrefixOf(secret: string): string {
  return secret.slice(0, shownCharacterCount);
}

/** Replaces every API key in the text by the first characters of the key, which lists and logs show. */
function redactKeys(text: string): string {
  return text.replace(/(rtk_[\w-]{8})[\w-]{35}/g, "$1…");
}

/** Returns the SHA-256 hash of a key in hex. The daemon stores keys only in this form. */
export function hashKeySecret(secret: string): string {
  return hash("sha256", secret);
}

/** Minimum length of a root key that the daemon redacts in logs. A shorter root key could be equal to an ordinary word. */
const leastConcealedLength = 12;

/** Replaces API keys and the root key in a JSON text. */
export function redactCredentials(json: string, rootKey = ""): string {
  const text = redactKeys(json);
  return rootKey.length < leastConcealedLength ? text : text.replaceAll(JSON.stringify(rootKey).slice(1, -1), "[root key]");
}
