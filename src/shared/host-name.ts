import { hostNameOf, isHost } from "./host.js";

/** Maximum length of a DNS name in characters (RFC 1035, section 2.3.4). */
const maximumHostNameLength = 253;
/** Matches the labels of a DNS name in ASCII, separated by dots. A host name cannot contain `_` (RFC 1123, section 2.1). */
const labels = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/**
 * Returns a DNS host name in normal form: ASCII (punycode), lower case, no trailing dot. Hosts are stored and compared in this form.
 * Returns undefined for other texts, such as an IP address or a name with a port.
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

/** Whether a host name is an IPv4 address. `URL` converts every spelling of an IPv4 address to four decimal numbers. */
function isAddress(name: string): boolean {
  return /^\d+(?:\.\d+){3}$/.test(name);
}
