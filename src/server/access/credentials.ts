import type { IncomingHttpHeaders } from "node:http";
import type { PanelHost } from "../web/panel-host.js";
import { hash, randomBytes } from "node:crypto";

export const sessionCookieName = "runtime_api_key";
/** Sent over HTTPS beside the other one. Browsers take a cookie of such a name from the host itself alone, so no page of another host can plant it. */
export const hostSessionCookieName = `__Host-${sessionCookieName}`;
/** Nothing longer is hashed: no key of ours is that long. */
const maximumSecretLength = 512;
/** Different session cookies of one request that are tried; a page of a worker can plant some beside the operator's own. */
const maximumSessionCookies = 8;
/** How every generated key begins. */
export const keyPrefixLiteral = "rtk_";
const randomByteCount = 32;
/** How much of a key is shown in lists and logs. */
const shownCharacterCount = 12;

/** Where a credential came in: only headers skip plugin hooks, and only the root key in a header skips the Origin check. */
export type CredentialChannel = "header" | "cookie";

export interface Credential {
  readonly secret: string;
  readonly channel: CredentialChannel;
}

/** The credentials that a request carries, in the order in which they are tried; cookies count at the panel's host alone, where there is one. */
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

/** Whether a request carries several session cookies of different values, of which one at most is the operator's own. */
export function hasSeveralSessionCookies({ cookie = "" }: IncomingHttpHeaders): boolean {
  return valuesOf(cookie, sessionCookieName).length > 1;
}

function sessionCookiesOf(header: string): string[] {
  const [own] = valuesOf(header, hostSessionCookieName);
  return own === undefined ? valuesOf(header, sessionCookieName) : [own];
}

/** The different values of a cookie, percent-decoded, that could be keys. */
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

/** Without the white space that browsers know around names and values; `trim` knows more. */
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

/** A new secret: `rtk_` and 43 base64url characters. */
export function createKeySecret(): string {
  return keyPrefixLiteral + randomBytes(randomByteCount).toString("base64url");
}

/** The leading part of a key that is safe to show. */
export function shownPrefixOf(secret: string): string {
  return secret.slice(0, shownCharacterCount);
}

/** The text with every key of ours taken out; its shown prefix stays. */
export function redactKeys(text: string): string {
  return text.replace(/(rtk_[\w-]{8})[\w-]{35}/g, "$1…");
}

/** SHA-256 in hex: all that is ever stored of a key. */
export function hashKeySecret(secret: string): string {
  return hash("sha256", secret);
}
