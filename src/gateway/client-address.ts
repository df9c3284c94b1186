import { BlockList } from "node:net";
import { parseIpAddress, type IpAddress } from "./ip-address.js";

const namedRanges: ReadonlyMap<string, readonly string[]> = new Map([
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]],
]);
/** Entry of `trustedProxies` that trusts peers without an IP address, which are connections over a Unix socket. */
const unixSocket = "unix";
/** Maximum number of proxies that are evaluated. The limit restricts the cost of a long X-Forwarded-For header. */
const mostHops = 32;
/** Maximum number of addresses in the cache, which limits memory, because clients can have any number of addresses. */
const mostKnown = 1000;

/** Returns the reason why a text is not a valid `trustedProxies` entry, or undefined for a valid entry. */
export function trustedProxyProblem(entry: string): string | undefined {
  if (namedRanges.has(entry) || entry === unixSocket || parseRange(entry)) return undefined;
  return "is not an address, a range such as 10.0.0.0/8, loopback, private or unix";
}

export interface Client {
  /** IP address of the client. Undefined for a peer without an address, or if a trusted peer reported no address. */
  readonly address: IpAddress | undefined;
  /** True if a trusted proxy sent the request, so that its other X-Forwarded headers are trustworthy. */
  readonly isProxied: boolean;
}

/**
 * Determines the client of a request. In X-Forwarded-For, each host reports the entry before its own, and the daemon adds the last entry.
 * An entry counts only if the host that reported it is trusted.
 */
export class ClientAddresses {
  readonly #trusted = new BlockList();
  /** Cached BlockList results, because one BlockList check takes longer than the rest of the lookup. */
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
        // A trusted proxy sent an invalid entry, so the proxy itself counts as the client.
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
  // IPv4-mapped ranges must be written as IPv4 ranges.
  const isSound = prefix <= bits && (length === undefined || bare.includes(":") === (bits === 128)) && !/\.\d+:\d+$/.test(bare);
  return isSound ? { address, prefix } : undefined;
}
