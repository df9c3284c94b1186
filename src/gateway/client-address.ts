import { BlockList } from "node:net";
import { parseIpAddress, type IpAddress } from "./ip-address.js";

const namedRanges: ReadonlyMap<string, readonly string[]> = new Map([
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]],
]);
/** Stands for peers that have no address: what came by a Unix socket. */
const unixSocket = "unix";
/** Nobody has more proxies; a header that names more does not cost more. */
const mostHops = 32;
/** Addresses whose answer is remembered. */
const mostKnown = 1000;

/** Why the text is no entry of `trustedProxies`; undefined when it is one. */
export function trustedProxyProblem(entry: string): string | undefined {
  if (namedRanges.has(entry) || entry === unixSocket || parseRange(entry)) return undefined;
  return "is not an address, a range such as 10.0.0.0/8, loopback, private or unix";
}

export interface Client {
  /** Undefined: a peer without an address, or one that a trusted peer has no address for. */
  readonly address: IpAddress | undefined;
  /** A trusted proxy brought the request, so that its other X-Forwarded headers are to be believed. */
  readonly isProxied: boolean;
}

/**
 * Finds out who sent a request. The last entry of X-Forwarded-For is the peer of the connection, put there by the runtime; each one
 * before it is what the next one claims, believed only of those who are trusted.
 */
export class ClientAddresses {
  readonly #trusted = new BlockList();
  /** Answers of the list, which takes longer for one than all else here takes. */
  readonly #known = new Map<string, boolean>();
  readonly #trustsSockets: boolean;
  readonly #trustsAddresses: boolean;

  constructor(trustedProxies: readonly string[]) {
    this.#trustsSockets = trustedProxies.includes(unixSocket);
    this.#trustsAddresses = trustedProxies.some((entry) => entry !== unixSocket);
    for (const range of trustedProxies.flatMap((entry) => namedRanges.get(entry) ?? (entry === unixSocket ? [] : [entry]))) {
      const { address, prefix } = parseRange(range) ?? {};
      if (!address || prefix === undefined) throw new TypeError(`${range} is no range of addresses`);
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
        // What a trusted one passed on without being an address tells nothing: then it counts itself.
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
  // A range of IPv4 addresses within IPv6 is to be written as what it is.
  const isSound = prefix <= bits && (length === undefined || bare.includes(":") === (bits === 128)) && !/\.\d+:\d+$/.test(bare);
  return isSound ? { address, prefix } : undefined;
}
