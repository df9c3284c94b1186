import type { IncomingHttpHeaders } from "node:http";
import type { PanelHost } from "../web/panel-host.js";
import { hash, randomBytes } from "node:crypto";

export const sessionCookieName = "runtime_api_key";
/**
 * Name of the session cookie over HTTPS. Browsers accept the prefix `__Host-` only from the host itself, so a page of another host cannot
 * set the cookie.
 */
export const hostSessionCookieName = `__Host-${sessionCookieName}`;
/**
 * Maximum length of a secret that the daemon hashes. Every key is shorter, and the limit prevents clients from wasting CPU time with long
 * secrets.
 */
const maximumSecretLength = 512;
/**
 * Maximum number of session cookies that the daemon tries for one request. A worker's page can set cookies in addition to the operator's
 * cookie.
 */
const maximumSessionCookies = 8;
/** Prefix of every generated key. */
export const keyPrefixLiteral = "rtk_";
const randomByteCount = 32;
/** Number of characters of a key that lists and logs show, including the prefix `rtk_`. */
const shownCharacterCount = 12;

/**
 * Place of a credential in the request: header or cookie. A key in a header skips plugin hooks. The root key in a header also skips the
 * Origin check.
 */
export type CredentialChannel = "header" | "cookie";

export interface Credential {
  readonly secret: string;
  readonly channel: CredentialChannel;
}

/**
 * Returns the credentials in a request, in the order in which the daemon tries them. If a panel host is configured, cookies are valid only
 * at that host.
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

/** Returns whether a request has session cookies with different values. At most one of these is the operator's cookie. */
export function hasSeveralSessionCookies({ cookie = "" }: IncomingHttpHeaders): boolean {
  return valuesOf(cookie, sessionCookieName).length > 1;
}

function sessionCookiesOf(header: string): string[] {
  const [own] = valuesOf(header, hostSessionCookieName);
  return own === undefined ? valuesOf(header, sessionCookieName) : [own];
}

/** Returns the distinct values of a cookie that could be keys, percent-decoded. */
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

/** Removes spaces and tabs, which browsers ignore around cookie names and values. `trim` would remove other characters too. */
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

/** Creates a new key: `rtk_` and 43 base64url characters. */
export function createKeySecret(): string {
  return keyPrefixLiteral + randomBytes(randomByteCount).toString("base64url");
}

/** Returns the first characters of a key, which lists and logs show. */
export function shownPrefixOf(secret: string): string {
  return secret.slice(0, shownCharacterCount);
}

/** Shortens every key in the text to the characters that lists and logs show. */
function redactKeys(text: string): string {
  return text.replace(/(rtk_[\w-]{8})[\w-]{35}/g, "$1…");
}

/** Returns the SHA-256 hash of a key in hex. The daemon stores keys only in this form. */
export function hashKeySecret(secret: string): string {
  return hash("sha256", secret);
}

/** Minimum length of a root key that is redacted. A shorter key could match ordinary text. */
const leastConcealedLength = 12;

/** Redacts API keys and the root key in JSON text. */
export function redactCredentials(json: string, rootKey = ""): string {
  const text = redactKeys(json);
  return rootKey.length < leastConcealedLength ? text : text.replaceAll(JSON.stringify(rootKey).slice(1, -1), "[root key]");
}
