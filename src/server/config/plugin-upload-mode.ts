/**
 * `RUNTIME_PLUGIN_UPLOADS`: which keys may upload a plugin or change its files, of those that hold the permission: all, keys with every
 * permission and no namespace restriction, the root key alone, or none.
 */
export const pluginUploadModes = ["permitted", "admin", "root", "off"] as const;
export type PluginUploadMode = (typeof pluginUploadModes)[number];
