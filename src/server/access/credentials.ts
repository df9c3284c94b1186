import type { IncomingHttpHeaders } from "node:http";
import type { PanelHost } from "../web/panel-host.js";
import { hash, randomBytes } from "node:crypto";

export const sessionCookieName = "runtime_api_key";
/** Also set over HTTPS. Browsers accept a cookie with this name only from the host itself, so no page of another host can set it. */
export const hostSessionCookieName = `__Host-${sessionCookieName}`;
/** Longer secrets are not hashed: no key is that long. */
const maximumSecretLength = 512;
/** Maximum number of session cookies that one request can try. A page of a worker can set some besides the operator's own. */
const maximumSessionCookies = 8;
/** Prefix of every generated key. */
export const keyPrefixLiteral = "rtk_";
const randomByteCount = 32;
/** Characters of a key that lists and logs show. */
const shownCharacterCount = 12;

/** Source of a credential. Only headers skip plugin hooks, and only the root key in a header skips the Origin check. */
export type CredentialChannel = "header" | "cookie";

export interface Credential {
  readonly secret: string;
  readonly channel: CredentialChannel;
}

/** Returns the credentials of a request in the order in which they are tried. With a panel host, cookies are valid only there. */
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

/** Whether a request has session cookies with different values, of which at most one is the operator's own. */
export function hasSeveralSessionCookies({ cookie = "" }: IncomingHttpHeaders): boolean {
  return valuesOf(cookie, sessionCookieName).length > 1;
}

function sessionCookiesOf(header: string): string[] {
  const [own] = valuesOf(header, hostSessionCookieName);
  return own === undefined ? valuesOf(header, sessionCookieName) : [own];
}

/** Returns the different values of a cookie, percent-decoded, that could be keys. */
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

/** Removes the white space that browsers ignore around names and values; `trim` removes more. */
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

/** Creates a secret: `rtk_` and 43 base64url characters. */
export function createKeySecret(): string {
  return keyPrefixLiteral + randomBytes(randomByteCount).toString("base64url");
}

/** Returns the part of a key that lists and logs show. */
export function shownPrefixOf(secret: string): string {
  return secret.slice(0, shownCharacterCount);
}

/** Replaces every key in the text by its shown prefix. */
export function redactKeys(text: string): string {
  return text.replace(/(rtk_[\w-]{8})[\w-]{35}/g, "$1…");
}

/** Returns SHA-256 in hex, the only stored form of a key. */
export function hashKeySecret(secret: string): string {
  return hash("sha256", secret);
}
