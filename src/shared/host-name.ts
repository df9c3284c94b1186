import { hostNameOf, isHost } from "./host.js";

/** DNS limits a name to 253 characters (RFC 1035, section 2.3.4). */
const maximumHostNameLength = 253;
/** One label of a DNS name in ASCII; `_` is not allowed in host names (RFC 1123, section 2.1). */
const labels = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/**
 * A DNS host name in the one spelling in which it is stored and compared: ASCII (punycode), lower case, no trailing dot. Undefined for
 * anything else, such as an IP address or a name with a port.
 */
export function normalHostName(text: string): string | undefined {
  const ascii = asciiHost(text.trim());
  if (ascii === undefined || ascii.length > maximumHostNameLength || !labels.test(ascii)) return undefined;
  return isAddress(ascii) ? undefined : ascii;
}

function asciiHost(text: string): string | undefined {
  if (text === "" || /[:/?#@[\]\\%\s]/.test(text) || !URL.canParse(`http://${text}`)) return undefined;
  const name = new URL(`http://${text}`).hostname;
  return isHost(name) ? hostNameOf(name) : undefined;
}

/** `URL` turns every spelling of an IPv4 address into four decimal numbers. */
function isAddress(name: string): boolean {
  return /^\d+(?:\.\d+){3}$/.test(name);
}
