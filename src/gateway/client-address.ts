import { BlockList } from "node:net";
import { parseIpAddress, type IpAddress } from "./ip-address.js";

const namedRanges: ReadonlyMap<string, readonly string[]> = new Map([
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]],
]);
/**
 * Value in `trustedProxies` for the connections over a Unix socket, which have no IP address. The gateway then trusts these connections.
 */
const unixSocket = "unix";
/**
 * Maximum number of addresses in X-Forwarded-For that the gateway evaluates. A client can send a header of any length, so the limit bounds
 * the cost.
 */
const mostHops = 32;
/** Maximum number of cached addresses. Clients can send any number of different addresses, so the limit bounds the memory. */
const mostKnown = 1000;

/** Returns the reason why a text is not a valid `trustedProxies` entry, or undefined for a valid entry. */
export function trustedProxyProblem(entry: string): string | undefined {
  if (namedRanges.has(entry) || entry === unixSocket || parseRange(entry)) return undefined;
  return "is not an address, a range such as 10.0.0.0/8, loopback, private or unix";
}

export interface Client {
  /** IP address of the client. Undefined if the connection has no address, or if the trusted proxy did not report the client's address. */
  readonly address: IpAddress | undefined;
  /** True if a trusted proxy sent the request. The gateway then also trusts the header X-Forwarded-Proto. */
  readonly isProxied: boolean;
}

/**
 * Finds the client's address in X-Forwarded-For. Each proxy appends the address that it received the request from. The search starts at the
 * last address and continues to the left while the proxy that appended the address is trusted.
 */
export class ClientAddresses {
  readonly #trusted = new BlockList();
  /**
   * Results of BlockList checks by address. The results are cached, because one BlockList check takes longer than the rest of the search.
   */
  readonly #known = new Map<string, boolean>();
  readonly #trustsSockets: boolean;
  readonly #trustsAddresses: boolean;

  constructor(trustedProxies: readonly string[]) {
    this.#trustsSockets = trustedProxies.includes(unixSocket);
    this.#trustsAddresses = trustedProxies.some((entry) => entry !== unixSocket);
    for (const range of trustedProxies.flatMap((entry) => namedRanges.get(entry) ?? (entry === unixSocket ? [] : [entry]))) {
      const { address, prefix } = parseRange(range) ?? {};
      if (!address || prefix === undefined) throw new TypeError(`${range} is not an address range`);
      this.#trusted.addSubnet(address.text, prefix, address.family);
    }
  }

  of(request: Request): Client {
    const chain = request.headers.get("x-forwarded-for") ?? "";
    let end = chain.length;
    let client: IpAddress | undefined;
    for (let hops = 0; hops < mostHops && end >= 0; hops += 1) {
      const comma = end === 0 ? -1 : chain.lastIndexOf(",", end - 1);
      const entry = parseIpAddress(chain.slice(comma + 1, end));
      if (!this.#isTrusted(entry, hops)) {
        // If a trusted proxy sent an invalid address, the address of that proxy counts as the client's address.
        return { address: entry ?? client, isProxied: hops > 0 };
      }
      client = entry;
      end = comma;
    }
    return { address: client, isProxied: true };
  }

  #isTrusted(entry: IpAddress | undefined, hops: number): boolean {
    if (!entry) return hops === 0 && this.#trustsSockets;
    const known = this.#known.get(entry.text);
    if (known !== undefined || !this.#trustsAddresses) return known ?? false;
    if (this.#known.size >= mostKnown) this.#known.clear();
    const isTrusted = this.#trusted.check(entry.text, entry.family);
    this.#known.set(entry.text, isTrusted);
    return isTrusted;
  }
}

function parseRange(text: string): { address: IpAddress; prefix: number } | undefined {
  const [, bare = "", length] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const address = parseIpAddress(bare);
  if (!address) return undefined;
  const bits = address.family === "ipv4" ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  // Rejects a range of IPv4-mapped IPv6 addresses, such as `::ffff:10.0.0.0/104`. The setting must contain the IPv4 range instead.
  const isSound = prefix <= bits && (length === undefined || bare.includes(":") === (bits === 128)) && !/\.\d+:\d+$/.test(bare);
  return isSound ? { address, prefix } : undefined;
}
