/** All permissions, in display order. */
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
  "settings:read",
] as const;
export type Permission = (typeof permissions)[number];

export const roles = ["admin", "editor", "viewer", "custom"] as const;
export type Role = (typeof roles)[number];

/** The permissions of each role. The role `custom` has no fixed permissions: they are selected when a key is created. */
export const rolePermissions: Readonly<Record<Role, readonly Permission[]>> = {
  admin: permissions,
  editor: permissions.filter((permission) => permission.startsWith("workers:") || permission.startsWith("plugins:")),
  viewer: ["workers:read", "plugins:read", "keys:read"],
  custom: [],
};

interface PermissionMeaning {
  /** Description of the actions that the permission allows. */
  readonly meaning: string;
  /** Whether the API specification defines the permission. */
  readonly isSpecified: boolean;
}

/**
 * The meaning of each permission. docs/reference/permissions.md is generated from this table.
 * @public
 */
export const permissionMeanings: Readonly<Record<Permission, PermissionMeaning>> = {
  "workers:read": { meaning: "Lists workers, reads their files, logs and metrics.", isSpecified: true },
  "workers:install": { meaning: "Uploads workers, changes their files, enables and disables versions.", isSpecified: true },
  "workers:remove": { meaning: "Deletes workers, versions and files of workers.", isSpecified: false },
  "workers:restart": { meaning: "Restarts the isolates of a version, stops isolates, runs cron jobs.", isSpecified: false },
  "plugins:read": { meaning: "Lists plugins and reads their files.", isSpecified: false },
  "plugins:install": {
    meaning: "Uploads plugins, changes their files, enables, disables and reloads them. A plugin runs as the daemon.",
    isSpecified: true,
  },
  "plugins:remove": { meaning: "Deletes plugins and files of plugins.", isSpecified: false },
  "plugins:config": { meaning: "Reads and changes plugin settings, for plugins with a settings API.", isSpecified: false },
  "keys:read": { meaning: "Lists keys, roles and permissions, and reads the health checks of the daemon.", isSpecified: true },
  "keys:create": { meaning: "Creates keys with at most its own permissions.", isSpecified: false },
  "keys:revoke": { meaning: "Revokes and rotates keys with at most its own permissions.", isSpecified: false },
  "audit:read": { meaning: "Reads the audit log.", isSpecified: false },
  "settings:read": { meaning: "Reads the variables and directories of the daemon, without secrets.", isSpecified: false },
};

/** Warning that clients show when the user creates a key with `plugins:install`. */
export const pluginsRunAsDaemon = "A plugin runs as the daemon, with every key and file: a key with plugins:install can do everything.";
