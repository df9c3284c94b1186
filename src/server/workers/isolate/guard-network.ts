import dgram from "node:dgram";
import dns from "node:dns";
import net from "node:net";
import { constants } from "node:os";
import { parseNetworkTarget } from "../../../shared/network-target.js";
import type { WorkerNetwork } from "../../config/worker-network.js";
import { AddressRanges } from "./address-ranges.js";

/**
 * Networks that are not public: this host, private and link-local networks (with cloud metadata services), and ranges for translation or
 * tunnels.
 */
const closedNetworks =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 " +
  "192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ::/128 64:ff9b::/96 " +
  "64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 " +
  "ff00::/8";
const loopbackNetworks = "127.0.0.0/8 ::1/128";

// Built-in functions that this module reads before worker code can replace them. This module reads arrays by index, because worker code can
// also replace array iterators.
const { apply } = Reflect;
const { isIP } = net;
const accessDenied = -constants.errno.EACCES;
// oxlint-disable-next-line typescript/unbound-method -- called by `apply`
const lowerCase = String.prototype.toLowerCase;

interface GuardOptions {
  readonly network: WorkerNetwork;
  /** An open socket that is not a TCP socket. Its handle has the prototype that all pipe handles share. */
  readonly pipe: net.Socket;
  /** False if `lockDown` denies UDP sockets. */
  readonly allowsUdp: boolean;
  /** True if the worker is allowed to start programs and to connect to any Unix socket. */
  readonly allowsPrograms: boolean;
  /** Writes an error to the worker's log. */
  readonly report: (text: string) => void;
}

/**
 * Checks the address of each connection that node:net or node:dgram opens. Cannot check connections of threads, programs and native addons.
 * For these, the kernel enforces only the network mode `none`.
 */
export function guardNetwork({ network, pipe, allowsUdp, allowsPrograms, report }: GuardOptions): void {
  const isOpen = network.mode === "all";
  if (!isOpen) {
    const targets = network.allow.map((text) => parseNetworkTarget(text)).filter((target) => target !== undefined && "host" in target);
    const allowed = new AllowedAddresses(targets);
    const closed = new AddressRanges(closedNetworks);
    const loopback = new AddressRanges(loopbackNetworks);
    const isAllowed = (address: string, port: number): boolean => {
      const plain = withoutZone(address);
      const family = isIP(plain);
      if (family === 0) return false;
      if (allowed.has(plain, port)) return true;
      if (loopback.has(plain, family)) return network.allowsLoopback;
      return network.mode === "public" && !closed.has(plain, family);
    };
    const judge = (address: string, port: number): boolean => {
      if (isAllowed(address, port)) return true;
      report(deniedText(address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`));
      return false;
    };
    guardTcp(judge);
    if (allowsUdp) guardUdp(judge);
    guardNameServers();
  }
  if (!allowsPrograms) guardPipes(pipe, network.allow, (path) => report(deniedText(`unix:${path}`)));
}

function deniedText(target: string): string {
  return `NETWORK_DENIED: the worker is not allowed to connect to ${target}. To allow it, add ${JSON.stringify(target)} or its host name and port to network.allow in the manifest; the operator grants it by RUNTIME_WORKER_NETWORK_ALLOW.`;
}

/** Addresses that the manifest allows: IP addresses, and the addresses that its host names resolve to. */
class AllowedAddresses {
  readonly #targets: readonly { readonly host: string; readonly port: number | undefined }[];
  /** Allowed addresses as properties: an IP address, a space, and a port or `*`. */
  readonly #known = Object.create(null) as Record<string, true>;

  constructor(targets: readonly { readonly host: string; readonly port: number | undefined }[]) {
    this.#targets = targets;
    for (const { host, port } of targets) if (isIP(host) !== 0) this.#known[`${host} ${port ?? "*"}`] = true;
    if (targets.some(({ host }) => isIP(host) === 0)) this.#watchLookups();
  }

  has(address: string, port: number): boolean {
    return this.#known[`${address} ${port}`] === true || this.#known[`${address} *`] === true;
  }

  /** Records the results of `dns.lookup`, because node:net resolves host names by this function. */
  #watchLookups(): void {
    const { lookup } = dns;
    const note = (hostname: string, addresses: string | dns.LookupAddress[]): void => this.#note(hostname, addresses);
    const watched = (hostname: string, options: dns.LookupOptions, callback: LookupCallback): void => {
      const [given, done] = typeof options === "function" ? [{}, options as LookupCallback] : [options, callback];
      lookup(hostname, given, (error, addresses, family) => {
        if (!error) note(hostname, addresses);
        done(error, addresses, family);
      });
    };
    // Copies the own properties of `lookup`, because `util.promisify` needs them.
    dns.lookup = Object.defineProperties(watched, Object.getOwnPropertyDescriptors(lookup)) as typeof dns.lookup;
  }

  #note(hostname: string, addresses: string | dns.LookupAddress[]): void {
    const name = apply(lowerCase, hostname, []);
    for (let index = 0; index < this.#targets.length; index += 1) {
      const { host, port } = this.#targets[index] as { host: string; port: number | undefined };
      if (host !== name) continue;
      if (typeof addresses === "string") this.#known[`${addresses} ${port ?? "*"}`] = true;
      else for (let at = 0; at < addresses.length; at += 1) this.#known[`${addresses[at]?.address} ${port ?? "*"}`] = true;
    }
  }
}

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | dns.LookupAddress[], family?: number) => void;

type Judge = (address: string, port: number) => boolean;

/** Returns whether a connection is allowed. Rejects an object as an address, because an object can return another text at each read. */
function judgeValues(judge: Judge, address: unknown, port: unknown): boolean {
  return typeof address === "string" && typeof port === "number" && judge(address, port);
}

function guardTcp(judge: Judge): void {
  const socket = new net.Socket().connect({ host: "127.0.0.1", port: 1 });
  guardMethods(prototypeOfHandle(socket), ["connect", "connect6"], (values) => judgeValues(judge, values[1], values[2]));
  socket.destroy();
}

function guardUdp(judge: Judge): void {
  const socket = dgram.createSocket("udp4");
  const prototype = prototypeOfUdpHandle(socket);
  guardMethods(prototype, ["connect", "connect6"], (values) => judgeValues(judge, values[0], values[1]));
  // Allows a call of `send` without an address. In this case, the socket is connected, and `connect` has already checked the address.
  guardMethods(
    prototype,
    ["send", "send6"],
    (values) => values[4] === undefined || typeof values[4] === "boolean" || judgeValues(judge, values[4], values[3]),
  );
  socket.close();
}

/** Prevents the worker from setting name servers, because native code would connect to them without a check. */
function guardNameServers(): void {
  const resolver = new dns.Resolver() as unknown as { _handle: object };
  // oxlint-disable-next-line no-underscore-dangle -- Node offers no other way to the handle
  replaceMethods(Object.getPrototypeOf(resolver._handle) as object, ["setServers"], () => {
    throw Object.assign(new Error("This worker's network is restricted, so the worker cannot set name servers."), { code: "EACCES" });
  });
}

function guardPipes(pipe: net.Socket, allow: readonly string[], onDenied: (path: string) => void): void {
  const allowed = Object.create(null) as Record<string, true>;
  for (const target of allow) if (target.startsWith("unix:")) allowed[target.slice("unix:".length)] = true;
  guardMethods(prototypeOfHandle(pipe), ["connect"], (values) => {
    const path = values[1];
    if (typeof path !== "string") return false;
    if (allowed[path] === true) return true;
    onDenied(path);
    return false;
  });
}

/** Replaces methods of a socket handle. The new methods return an error number, and node:net then emits the event "error". */
function guardMethods(prototype: object, methods: readonly string[], isAllowed: (values: readonly unknown[]) => boolean): void {
  for (const method of methods) {
    const original = (prototype as Record<string, (...values: unknown[]) => unknown>)[method];
    if (original === undefined) continue;
    replaceMethods(prototype, [method], function guarded(this: unknown, ...values: unknown[]): unknown {
      return isAllowed(values) ? apply(original, this, values) : accessDenied;
    });
  }
}

/** Removes the zone: `fe80::1%eth0` becomes `fe80::1`. */
function withoutZone(address: string): string {
  for (let index = 0; index < address.length; index += 1) if (address[index] === "%") return address.slice(0, index);
  return address;
}

/** Replaces methods so that worker code cannot replace them again. */
export function replaceMethods(prototype: object, methods: readonly string[], value: (...values: unknown[]) => unknown): void {
  for (const method of methods) Object.defineProperty(prototype, method, { value, writable: false, configurable: false });
}

/**
 * Returns the prototype of the socket's handle. Throws a TypeError if this version of Node.js has no such handle, because an isolate must
 * not start without the network checks.
 */
export function prototypeOfHandle(socket: net.Socket): object {
  const { _handle: handle } = socket as unknown as { _handle: object };
  return Object.getPrototypeOf(handle) as object;
}

/** Returns the prototype of the handle of a node:dgram socket. Throws like `prototypeOfHandle`. */
export function prototypeOfUdpHandle(socket: dgram.Socket): object {
  const state = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "state symbol");
  const { handle } = (socket as unknown as Record<symbol, { handle: object }>)[state as symbol] as { handle: object };
  return Object.getPrototypeOf(handle) as object;
}
