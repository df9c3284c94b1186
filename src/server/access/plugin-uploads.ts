import { ApiError } from "../../shared/api-error.js";
import type { Principal } from "../../shared/contract/principal.js";
import type { PluginUploadMode } from "../config/config-variables.js";
import { permissions } from "../../shared/permissions.js";

const restrictions: Readonly<Record<PluginUploadMode, string>> = {
  permitted: "",
  admin: "only keys with all permissions and without a namespace restriction",
  root: "only the root key",
  off: "no key",
};

function mayUpload(mode: PluginUploadMode, principal: Principal): boolean {
  if (mode === "permitted") return true;
  if (mode === "off") return false;
  if (principal.isRoot === true) return true;
  return (
    mode === "admin" && principal.namespaces.includes("*") && permissions.every((permission) => principal.permissions.includes(permission))
  );
}

/** Throws `PLUGIN_UPLOADS_RESTRICTED` if RUNTIME_PLUGIN_UPLOADS does not allow the principal to upload plugins. */
export function assertPluginUpload(mode: PluginUploadMode, principal: Principal): void {
  if (mayUpload(mode, principal)) return;
  throw new ApiError(
    "PLUGIN_UPLOADS_RESTRICTED",
    `With RUNTIME_PLUGIN_UPLOADS=${mode}, ${restrictions[mode]} can upload plugins or change their files. The reason is that plugin code can use every key of the daemon.`,
  );
}
