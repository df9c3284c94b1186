import type { NetworkMode } from "./network-ceiling.js";

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
