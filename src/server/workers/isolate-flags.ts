const flagOfName: Readonly<Record<string, string>> = {
  "child-process": "--allow-child-process",
  "worker-threads": "--allow-worker",
  addons: "--allow-addons",
  wasi: "--allow-wasi",
  inspector: "--allow-inspector",
};

/** The flag of Node's permission model that grants a permission; undefined where this Node has none. */
export function isolateFlag(permission: string): string | undefined {
  const [, kind, folder] = /^fs-(read|write):(.+)$/.exec(permission) ?? [];
  if (kind !== undefined) return `--allow-fs-${kind}=${folder}`;
  const flag = flagOfName[permission];
  return flag !== undefined && process.allowedNodeEnvironmentFlags.has(flag) ? flag : undefined;
}
