import { BlockList, isIP } from "node:net";
import { hostname } from "node:os";
import { ConfigError } from "./config-error.js";
import type { VariableDescription } from "./config-variables.js";
import { hideCredentials } from "./hide-credentials.js";

export const instanceVariables: readonly VariableDescription[] = [
  {
    name: "RUNTIME_INSTANCE_NAME",
    fallback: "",
    meaning:
      "Name of this daemon in lists of daemons with the same primary: 1 to 64 letters, digits, dots, hyphens and underscores. Unset: the host name.",
  },
  {
    name: "RUNTIME_INSTANCE_URL",
    fallback: "",
    meaning:
      "Address at which the other daemons with the same primary call the API of this one: `https://`, or `http://` with a private or loopback IP address, such as `http://10.0.0.11:8000`. They send the keys of their callers to it.",
  },
];

const loopbackNetworks = new BlockList();
loopbackNetworks.addSubnet("127.0.0.0", 8, "ipv4");
loopbackNetworks.addAddress("::1", "ipv6");

/** Private and loopback networks (RFC 1918, RFC 4193). Excludes link-local addresses, at which clouds serve metadata. */
const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["127.0.0.0", 8],
] as const)
  privateNetworks.addSubnet(network, prefix, "ipv4");
privateNetworks.addSubnet("fc00::", 7, "ipv6");
privateNetworks.addAddress("::1", "ipv6");

/** Form of the name of a daemon. */
export const instanceNamePattern = /^[\w.-]{1,64}$/;

/** Returns the value of RUNTIME_INSTANCE_NAME, or the host name for an empty value. Throws ConfigError. */
export function readInstanceName(text: string): string {
  if (text === "") return hostname();
  if (!instanceNamePattern.test(text))
    throw new ConfigError("RUNTIME_INSTANCE_NAME", text, "1 to 64 letters, digits, dots, hyphens and underscores");
  return text;
}

/** Returns the origin in RUNTIME_INSTANCE_URL, or undefined for an empty value. Throws ConfigError. */
export function readInstanceUrl(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && url.href === `${url.origin}/` && isInstanceUrl(url.origin)) return url.origin;
  throw new ConfigError(
    "RUNTIME_INSTANCE_URL",
    hideCredentials(text),
    "https:// with a host, or http:// with a private or loopback IP address, without path, query and password, such as http://10.0.0.11:8000",
  );
}

/**
 * Returns whether a daemon is allowed to send the keys of its callers to an origin. A host name with http is not allowed, because the
 * address behind it can change.
 */
export function isInstanceUrl(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.origin !== origin) return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && isInNetworks(url, privateNetworks);
}

/** Returns whether an origin is an address of the same machine: `localhost` or a loopback IP address. */
export function isLoopbackUrl(origin: string): boolean {
  const url = new URL(origin);
  return /(^|\.)localhost\.?$/.test(url.hostname) || isInNetworks(url, loopbackNetworks);
}

function isInNetworks({ hostname: host }: URL, networks: BlockList): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  const family = isIP(address);
  return family !== 0 && networks.check(address, family === 4 ? "ipv4" : "ipv6");
}
