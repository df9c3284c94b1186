import path from "node:path";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";
import { canGrant } from "../isolates/isolate-flags.js";

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
