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

interface PermissionMeaning {
  /** What a key with it may do. */
  readonly meaning: string;
  /** Whether the specification names it; the others were added. */
  readonly isSpecified: boolean;
}

/**
 * docs/reference/permissions.md is generated from this table.
 * @public
 */
export const permissionMeanings: Readonly<Record<Permission, PermissionMeaning>> = {
  "workers:read": { meaning: "Lists workers, reads their files, logs and metrics.", isSpecified: true },
  "workers:install": { meaning: "Uploads workers, changes their files, enables and disables versions.", isSpecified: true },
  "workers:remove": { meaning: "Deletes workers, versions and files of workers.", isSpecified: false },
  "workers:restart": { meaning: "Restarts the isolates of a version.", isSpecified: false },
  "plugins:read": { meaning: "Lists plugins and reads their files.", isSpecified: false },
  "plugins:install": {
    meaning: "Uploads plugins, changes their files, enables, disables and reloads them. A plugin runs as the daemon.",
    isSpecified: true,
  },
  "plugins:remove": { meaning: "Deletes plugins and files of plugins.", isSpecified: false },
  "plugins:config": { meaning: "Reads and changes the settings of plugins that have an API for them.", isSpecified: false },
  "keys:read": { meaning: "Lists keys, roles and permissions, and reads the checks of the daemon.", isSpecified: true },
  "keys:create": { meaning: "Makes keys that may do no more than the key that makes them.", isSpecified: false },
  "keys:revoke": { meaning: "Revokes and rotates keys that may do no more than the key that does it.", isSpecified: false },
  "audit:read": { meaning: "Reads the audit log.", isSpecified: false },
};

/** Told wherever a key with `plugins:install` is made. */
export const pluginsRunAsDaemon = "A plugin runs as the daemon, with every key and file: a key with plugins:install can do everything.";
