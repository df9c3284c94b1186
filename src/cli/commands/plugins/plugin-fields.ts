/** What documents say of an installed plugin. */
export const pluginFields = ["name", "version", "status", "enabled", "source", "error", "path", "removable"] as const;
