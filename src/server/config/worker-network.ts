import { parseNetworkTarget, type NetworkTarget } from "../../shared/network-target.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";

/** Network modes, from the smallest to the largest set of allowed addresses. */
export const networkModes = ["none", "public", "all"] as const;

/** The addresses that the worker in one isolate can connect to. The daemon sends this object to the isolate as JSON. */
export interface WorkerNetwork {
  /** Network mode of the worker. The mode `public` excludes loopback, private, link-local and metadata addresses. */
  readonly mode: NetworkMode;
  readonly allowsLoopback: boolean;
  /** Network targets that the worker's manifest requests and the operator allows. */
  readonly allow: readonly string[];
}

/** Returns whether a worker opens no network sockets. The kernel can then deny all network sockets to the isolate. */
export function needsNoNetwork({ mode, allowsLoopback, allow }: WorkerNetwork): boolean {
  return mode === "none" && !allowsLoopback && allow.every(isUnixSocket);
}

/** Returns whether one of the allowed network targets is a Unix socket. */
export function allowsUnixSockets({ allow }: WorkerNetwork): boolean {
  return allow.some(isUnixSocket);
}

function isUnixSocket(target: string): boolean {
  return target.startsWith("unix:");
}
export type NetworkMode = (typeof networkModes)[number];

/** Network target that the operator allows. If `scope` is set, only the workers of that scope, such as `@team`, can use the target. */
export interface NetworkGrant {
  readonly scope: string | undefined;
  readonly target: NetworkTarget;
}

export interface NetworkCeilingOptions {
  readonly mode: NetworkMode;
  readonly grants: readonly NetworkGrant[];
  /** True if every worker is allowed to connect to the loopback addresses of this machine. Intended for development. */
  readonly allowsLoopback: boolean;
}

type Requested = Pick<WorkerManifest, "network">;

/** Checks the network mode and the targets that a manifest requests against those that the operator allows. */
export class NetworkCeiling {
  readonly #options: NetworkCeilingOptions;
  /** Network access of a worker whose manifest has no `network` setting. */
  readonly usual: WorkerNetwork;

  constructor(options: NetworkCeilingOptions) {
    this.#options = options;
    this.usual = { mode: options.mode, allowsLoopback: options.allowsLoopback, allow: [] };
  }

  /** Returns the reason why the daemon rejects the manifest's network settings. Returns undefined if the daemon accepts these settings. */
  refusal({ network }: Requested, name: string): string | undefined {
    const { mode } = this.#options;
    if (network?.mode !== undefined && networkModes.indexOf(network.mode) > networkModes.indexOf(mode))
      return `The manifest requests the network mode ${network.mode}, but this daemon allows only ${mode}. The operator can change RUNTIME_WORKER_NETWORK.`;
    const beyond = network?.allow.find((text) => !this.#grants(text, name));
    if (beyond !== undefined)
      return `The manifest requests connections to ${beyond} (network.allow), which this daemon does not allow. The operator can add this target to RUNTIME_WORKER_NETWORK_ALLOW.`;
    return undefined;
  }

  /** Returns the addresses that the isolates of a worker can connect to. */
  of({ network }: Requested): WorkerNetwork {
    if (network === undefined) return this.usual;
    return { ...this.usual, mode: network.mode ?? this.usual.mode, allow: network.allow };
  }

  #grants(text: string, name: string): boolean {
    if (this.#options.mode === "all") return true;
    const target = parseNetworkTarget(text);
    return target !== undefined && this.#options.grants.some((grant) => isFor(grant, name) && covers(grant.target, target));
  }
}

function isFor({ scope }: NetworkGrant, name: string): boolean {
  return scope === undefined || name.startsWith(`${scope}/`);
}

function covers(granted: NetworkTarget, asked: NetworkTarget): boolean {
  if ("path" in granted || "path" in asked) return "path" in granted && "path" in asked && granted.path === asked.path;
  return granted.host === asked.host && (granted.port === undefined || granted.port === asked.port);
}
