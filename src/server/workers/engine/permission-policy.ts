import path from "node:path";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";

const flagOfName: Readonly<Record<string, string>> = {
  "child-process": "--allow-child-process",
  "worker-threads": "--allow-worker",
  addons: "--allow-addons",
  wasi: "--allow-wasi",
  inspector: "--allow-inspector",
};

/** What the operator lets workers do beyond reading their own folder. */
export class PermissionPolicy {
  readonly #allowed: readonly string[];

  /** As `RUNTIME_WORKER_PERMISSIONS` lists it. */
  constructor(allowed: readonly string[]) {
    this.#allowed = allowed;
  }

  get allowsNetwork(): boolean {
    return this.#allowed.includes("network");
  }

  /** Why a worker with this manifest is not served here; undefined when it is. */
  refusal({ permissions }: Pick<WorkerManifest, "permissions">): string | undefined {
    const beyond = permissions.find((permission) => !this.#allowed.some((allowed) => covers(allowed, permission)));
    if (beyond !== undefined)
      return `Its manifest asks for the permission ${beyond}, which this server does not give. The operator can add it to RUNTIME_WORKER_PERMISSIONS.`;
    const unknown = permissions.find((permission) => !canGrant(permission));
    if (unknown !== undefined) return `Its manifest asks for the permission ${unknown}, which Node ${process.version} cannot give.`;
    return undefined;
  }
}

/** A path covers all that lies below it. */
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

/** Whether the isolate's own program grants a permission, without a flag of Node. */
function isEnforcedInside(permission: string): boolean {
  return permission === "udp";
}

/** Whether this Node can grant a permission. */
function canGrant(permission: string): boolean {
  return isEnforcedInside(permission) || isolateFlag(permission) !== undefined;
}

/** The flag of Node's permission model that grants a permission; undefined where this Node has none. */
export function isolateFlag(permission: string): string | undefined {
  const [, kind, folder] = /^fs-(read|write):(.+)$/.exec(permission) ?? [];
  if (kind !== undefined) return `--allow-fs-${kind}=${folder}`;
  const flag = flagOfName[permission];
  return flag !== undefined && process.allowedNodeEnvironmentFlags.has(flag) ? flag : undefined;
}
