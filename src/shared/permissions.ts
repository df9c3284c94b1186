/** What a key may do, in the order in which forms show it. */
export const permissions = [
  "workers:read",
  "workers:install",
  "workers:remove",
  "workers:restart",
  "plugins:read",
  "plugins:install",
  "plugins:remove",
  "plugins:config",
  "keys:read",
  "keys:create",
  "keys:revoke",
  "audit:read",
] as const;
export type Permission = (typeof permissions)[number];

export const roles = ["admin", "editor", "viewer", "custom"] as const;
export type Role = (typeof roles)[number];

/** The permissions that come with a role; `custom` has exactly those chosen when the key is created. */
export const rolePermissions: Readonly<Record<Role, readonly Permission[]>> = {
  admin: permissions,
  editor: permissions.filter((permission) => permission.startsWith("workers:") || permission.startsWith("plugins:")),
  viewer: ["workers:read", "plugins:read", "keys:read"],
  custom: [],
};

/** Told wherever a key with `plugins:install` is made. */
export const pluginsRunAsDaemon =
  "A plugin runs as the daemon, with every key and file: whoever may upload one (plugins:install) can do everything.";
