import { ApiError } from "../../shared/api-error.js";
import type { Principal } from "../../shared/contract/principal.js";
import { permissions } from "../../shared/permissions.js";

/**
 * `RUNTIME_PLUGIN_UPLOADS`: which keys may upload a plugin or change its files, of those that hold the permission: all, keys with every
 * permission and no namespace restriction, the root key alone, or none.
 */
export const pluginUploadModes = ["permitted", "admin", "root", "off"] as const;
export type PluginUploadMode = (typeof pluginUploadModes)[number];

const restrictions: Readonly<Record<PluginUploadMode, string>> = {
  permitted: "",
  admin: "keys with all permissions and without a namespace restriction",
  root: "the root key",
  off: "nobody",
};

function mayUpload(mode: PluginUploadMode, principal: Principal): boolean {
  if (mode === "permitted") return true;
  if (mode === "off") return false;
  if (principal.isRoot === true) return true;
  return (
    mode === "admin" && principal.namespaces.includes("*") && permissions.every((permission) => principal.permissions.includes(permission))
  );
}

/** Throws `PLUGIN_UPLOADS_RESTRICTED`. */
export function assertPluginUpload(mode: PluginUploadMode, principal: Principal): void {
  if (mayUpload(mode, principal)) return;
  throw new ApiError(
    "PLUGIN_UPLOADS_RESTRICTED",
    `A plugin runs as the daemon, with every key. RUNTIME_PLUGIN_UPLOADS=${mode} lets ${restrictions[mode]} upload plugins and change their files here.`,
  );
}
