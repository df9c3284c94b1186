import { isIP } from "node:net";

/** An IP address in canonical form. Two texts of the same address have the same canonical form. */
export interface IpAddress {
  readonly text: string;
  readonly family: "ipv4" | "ipv6";
  /**
   * The group of addresses that shares one rate limit: a single IPv4 address, or the /64 network of an IPv6 address, because one host can
   * use every address of a /64 network.
   */
  readonly network: string;
}

/**
 * Parses an address with an optional port, such as `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`. Converts an
 * IPv4-mapped address to IPv4. Returns undefined for other texts.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  const bare = withoutPort(text.trim());
  const version = isIP(bare);
  if (version === 0) return undefined;
  if (version === 4) return { text: bare, family: "ipv4", network: bare };
  const groups = groupsOf(bare.replace(/%.*$/, ""));
  const mapped = mappedIpv4(groups);
  if (mapped !== undefined) return { text: mapped, family: "ipv4", network: mapped };
  const hex = groups.map((group) => group.toString(16));
  return { text: hex.join(":"), family: "ipv6", network: `${hex.slice(0, 4).join(":")}::/64` };
}

function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
}

/** Returns the eight groups of an IPv6 address that `isIP` accepts. */
function groupsOf(address: string): number[] {
  const [front = "", back] = address.split("::");
  const head = readGroups(front);
  if (back === undefined) return head;
  const tail = readGroups(back);
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function readGroups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function mappedIpv4(groups: readonly number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 5).some((group) => group !== 0) || groups[5] !== 0xff_ff) return undefined;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
