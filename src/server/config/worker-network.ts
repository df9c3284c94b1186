import { parseNetworkTarget, type NetworkTarget } from "../../shared/network-target.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";

/** From the narrowest to the widest. */
export const networkModes = ["none", "public", "all"] as const;

/** What one isolate may connect to; the daemon hands it to the isolate as JSON. */
export interface WorkerNetwork {
  /** `public`: all but loopback, private, link-local and metadata addresses. */
  readonly mode: NetworkMode;
  readonly allowsLoopback: boolean;
  /** As in the manifest; all of it is granted. */
  readonly allow: readonly string[];
}

/** Whether the kernel can deny every socket to a network. */
export function needsNoNetwork({ mode, allowsLoopback, allow }: WorkerNetwork): boolean {
  return mode === "none" && !allowsLoopback && allow.every(isUnixSocket);
}

/** Whether it may connect to a Unix socket. */
export function allowsUnixSockets({ allow }: WorkerNetwork): boolean {
  return allow.some(isUnixSocket);
}

function isUnixSocket(target: string): boolean {
  return target.startsWith("unix:");
}
export type NetworkMode = (typeof networkModes)[number];

/** What the operator lets workers connect to beyond the mode: for all of them, or those of one scope such as `@team`. */
export interface NetworkGrant {
  readonly scope: string | undefined;
  readonly target: NetworkTarget;
}

export interface NetworkCeilingOptions {
  readonly mode: NetworkMode;
  readonly grants: readonly NetworkGrant[];
  /** Every worker may connect to this machine: for development. */
  readonly allowsLoopback: boolean;
}

type Requested = Pick<WorkerManifest, "network">;

/** What workers may connect to, as far as their manifests ask for it. */
export class NetworkCeiling {
  readonly #options: NetworkCeilingOptions;
  /** Of a worker that asks for nothing. */
  readonly usual: WorkerNetwork;

  constructor(options: NetworkCeilingOptions) {
    this.#options = options;
    this.usual = { mode: options.mode, allowsLoopback: options.allowsLoopback, allow: [] };
  }

  /** Why a worker with this manifest is not served here; undefined when it is. */
  refusal({ network }: Requested, name: string): string | undefined {
    const { mode } = this.#options;
    if (network?.mode !== undefined && networkModes.indexOf(network.mode) > networkModes.indexOf(mode))
      return `Its manifest asks for the network mode ${network.mode}, and this server gives ${mode}. The operator can change RUNTIME_WORKER_NETWORK.`;
    const beyond = network?.allow.find((text) => !this.#grants(text, name));
    if (beyond !== undefined)
      return `Its manifest asks to connect to ${beyond} (network.allow), which this server does not grant. The operator can add it to RUNTIME_WORKER_NETWORK_ALLOW.`;
    return undefined;
  }

  /** What the isolates of a worker may connect to. */
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
