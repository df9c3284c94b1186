import type { IncomingHttpHeaders } from "node:http";

/** Where a credential came in: only headers skip plugin hooks, and only the root key in a header skips the Origin check. */
export type CredentialChannel = "header" | "cookie";

export interface Credential {
  readonly secret: string;
  readonly channel: CredentialChannel;
}

export const sessionCookieName = "runtime_api_key";
/** Nothing longer is hashed: no key of ours is that long. */
const maximumSecretLength = 512;
/** Different session cookies of one request that are tried; a page of a worker can plant some beside the operator's own. */
const maximumSessionCookies = 8;

/** The credentials that a request carries, in the order in which they are tried. */
export function credentialsOf(headers: IncomingHttpHeaders): Credential[] {
  const { authorization, cookie = "", "x-api-key": apiKey } = headers;
  const found: Credential[] = [];
  const add = (secret: string | undefined, channel: CredentialChannel): void => {
    if (couldBeKey(secret)) found.push({ secret, channel });
  };
  if (typeof apiKey === "string") add(apiKey, "header");
  if (authorization !== undefined) add(/^Bearer +(\S.*)$/i.exec(authorization)?.[1], "header");
  if (cookie.includes(sessionCookieName))
    for (const value of sessionCookiesOf(cookie).slice(0, maximumSessionCookies)) add(value, "cookie");
  return found;
}

/** Whether a request carries several session cookies of different values, of which one at most is the operator's own. */
export function hasSeveralSessionCookies({ cookie = "" }: IncomingHttpHeaders): boolean {
  return sessionCookiesOf(cookie).length > 1;
}

/** The different values of the session cookie, percent-decoded, that could be keys. */
function sessionCookiesOf(header: string): string[] {
  const values = new Set<string>();
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || trimmed(pair.slice(0, equals)) !== sessionCookieName) continue;
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
