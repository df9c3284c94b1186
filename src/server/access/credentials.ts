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

/** The credentials that a request carries, in the order in which they are tried. */
export function credentialsOf(headers: IncomingHttpHeaders): Credential[] {
  const { authorization, cookie, "x-api-key": apiKey } = headers;
  const found: Credential[] = [];
  const add = (secret: string | undefined, channel: CredentialChannel): void => {
    if (secret !== undefined && secret !== "" && secret.length <= maximumSecretLength) found.push({ secret, channel });
  };
  if (typeof apiKey === "string") add(apiKey, "header");
  if (authorization !== undefined) add(/^Bearer +(\S.*)$/i.exec(authorization)?.[1], "header");
  if (cookie !== undefined) add(sessionCookieOf(cookie), "cookie");
  return found;
}

/** The session cookie's value, percent-decoded; the first one counts, a malformed one is none. */
function sessionCookieOf(header: string): string | undefined {
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || pair.slice(0, equals).trim() !== sessionCookieName) continue;
    const value = pair.slice(equals + 1).trim();
    return decode(value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value);
  }
  return undefined;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
