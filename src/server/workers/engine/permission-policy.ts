import path from "node:path";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";

const flagOfName: Readonly<Record<string, string>> = {
  "child-process": "--allow-child-process",
  "worker-threads": "--allow-worker",
  addons: "--allow-addons",
  wasi: "--allow-wasi",
  inspector: "--allow-inspector",
};

/** Checks the permissions in manifests against those that the operator allows. Every worker can read its own folder. */
export class PermissionPolicy {
  readonly #allowed: readonly string[];

  /** `allowed`: the permissions from `RUNTIME_WORKER_PERMISSIONS`. */
  constructor(allowed: readonly string[]) {
    this.#allowed = allowed;
  }

  get allowsNetwork(): boolean {
    return this.#allowed.includes("network");
  }

  /** Returns the reason why this daemon rejects the permissions in a manifest. Returns undefined if the daemon accepts them. */
  refusal({ permissions }: Pick<WorkerManifest, "permissions">): string | undefined {
    const beyond = permissions.find((permission) => !this.#allowed.some((allowed) => covers(allowed, permission)));
    if (beyond !== undefined)
      return `The manifest requests the permission ${beyond}, which this server does not allow. The operator can add it to RUNTIME_WORKER_PERMISSIONS.`;
    const unknown = permissions.find((permission) => !canGrant(permission));
    if (unknown !== undefined) return `The manifest requests the permission ${unknown}, which Node ${process.version} cannot grant.`;
    return undefined;
  }
}

/** Returns whether an allowed permission includes a requested permission. A permission for a path includes all paths below it. */
function covers(allowed: string, asked: string): boolean {
  if (allowed === asked) return true;
  const [allowedKind = "", allowedPath] = splitPermission(allowed);
  const [askedKind = "", askedPath] = splitPermission(asked);
  if (allowedPath === undefined || askedPath === undefined || allowedKind !== askedKind) return false;
  const relative = path.relative(allowedPath, askedPath);
  return relative === "" || (relative !== ".." && !relative.startsWith("../"));
}

function splitPermission(permission: string): string[] {
  const colon = permission.indexOf(":");
  return colon === -1 ? [permission] : [permission.slice(0, colon), permission.slice(colon + 1)];
}

/** Returns whether the isolate program itself enforces a permission. Node.js then has no flag for it. */
function isEnforcedInside(permission: string): boolean {
  return permission === "udp";
}

/** Returns whether this Node.js version can grant a permission. */
function canGrant(permission: string): boolean {
  return isEnforcedInside(permission) || isolateFlag(permission) !== undefined;
}

/** Returns the Node.js flag for a permission. Returns undefined if this version of Node.js has no such flag. */
export function isolateFlag(permission: string): string | undefined {
  const [, kind, folder] = /^fs-(read|write):(.+)$/.exec(permission) ?? [];
  if (kind !== undefined) return `--allow-fs-${kind}=${folder}`;
  const flag = flagOfName[permission];
  return flag !== undefined && process.allowedNodeEnvironmentFlags.has(flag) ? flag : undefined;
}
