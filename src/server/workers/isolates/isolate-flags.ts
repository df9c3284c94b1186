const flagOfName: Readonly<Record<string, string>> = {
  "child-process": "--allow-child-process",
  "worker-threads": "--allow-worker",
  addons: "--allow-addons",
  wasi: "--allow-wasi",
  inspector: "--allow-inspector",
};

/** Whether the isolate's own program grants a permission, without a flag of Node. */
function isEnforcedInside(permission: string): boolean {
  return permission === "udp";
}

/** Whether this Node can grant a permission. */
export function canGrant(permission: string): boolean {
  return isEnforcedInside(permission) || isolateFlag(permission) !== undefined;
}

/** The flag of Node's permission model that grants a permission; undefined where this Node has none. */
export function isolateFlag(permission: string): string | undefined {
  const [, kind, folder] = /^fs-(read|write):(.+)$/.exec(permission) ?? [];
  if (kind !== undefined) return `--allow-fs-${kind}=${folder}`;
  const flag = flagOfName[permission];
  return flag !== undefined && process.allowedNodeEnvironmentFlags.has(flag) ? flag : undefined;
}
