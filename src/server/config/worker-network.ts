import { parseNetworkTarget, type NetworkTarget } from "../../shared/network-target.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";

/** Network modes from the most to the least restrictive. */
export const networkModes = ["none", "public", "all"] as const;

/** The addresses that one isolate can connect to. The daemon passes this object to the isolate as JSON. */
export interface WorkerNetwork {
  /** General rule for addresses. `public` allows all except loopback, private, link-local and metadata addresses. */
  readonly mode: NetworkMode;
  readonly allowsLoopback: boolean;
  /** Network targets in the worker's manifest that the operator has allowed. */
  readonly allow: readonly string[];
}

/** Returns whether a worker needs no network sockets, so that the kernel can deny all of them. */
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

/** Network target that the operator allows for all workers, or for the workers of one scope such as `@team`. */
export interface NetworkGrant {
  readonly scope: string | undefined;
  readonly target: NetworkTarget;
}

export interface NetworkCeilingOptions {
  readonly mode: NetworkMode;
  readonly grants: readonly NetworkGrant[];
  /** True if every worker is allowed to connect to this machine. Intended for development. */
  readonly allowsLoopback: boolean;
}

type Requested = Pick<WorkerManifest, "network">;

/** Checks and limits the network targets that manifests request. */
export class NetworkCeiling {
  readonly #options: NetworkCeilingOptions;
  /** Network access of a worker whose manifest has no `network` setting. */
  readonly usual: WorkerNetwork;

  constructor(options: NetworkCeilingOptions) {
    this.#options = options;
    this.usual = { mode: options.mode, allowsLoopback: options.allowsLoopback, allow: [] };
  }

  /** Returns the reason why this daemon would not serve a worker with this manifest, or undefined if it would. */
  refusal({ network }: Requested, name: string): string | undefined {
    const { mode } = this.#options;
    if (network?.mode !== undefined && networkModes.indexOf(network.mode) > networkModes.indexOf(mode))
      return `The manifest requests the network mode ${network.mode}, but this daemon allows only ${mode}. The operator can change RUNTIME_WORKER_NETWORK.`;
    const beyond = network?.allow.find((text) => !this.#grants(text, name));
    if (beyond !== undefined)
      return `The manifest requests connections to ${beyond} (network.allow), which this daemon does not allow. The operator can add this target to RUNTIME_WORKER_NETWORK_ALLOW.`;
    return undefined;
  }

  /** Returns the network access of a worker's isolates. */
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
