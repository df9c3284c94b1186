import type { Permission } from "../../shared/permissions.js";
import type { Config } from "../config/config.js";
import type { StoredKey } from "./key-store.js";
import { effectivePermissions } from "./principals.js";

/** Warning about a daemon setting that gives the holder of a key more access than the permissions of the key allow. */
export interface AccessWarning {
  /** Name of the health check that reports the warning. */
  readonly name: "panel-origin" | "plugin-uploads";
  /** Text for the operator. Undefined if the check found no problem. */
  readonly message: string | undefined;
}

interface AccessWarningOptions {
  readonly config: Pick<Config, "panelHost" | "pluginUploads" | "servesPanel">;
  /** The API keys that are not revoked. */
  readonly keys: readonly StoredKey[];
  /** Current time in Unix seconds. */
  readonly now: number;
}

export function accessWarnings({ config, keys, now }: AccessWarningOptions): AccessWarning[] {
  const inForce = keys.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
  const holders = (permission: Permission) => inForce.filter((key) => effectivePermissions(key).includes(permission));
  const sharesOrigin = config.servesPanel && config.panelHost === undefined && holders("workers:install").length > 0;
  const mayUploadAnywhere =
    config.pluginUploads === "permitted" && holders("plugins:install").some(({ namespaces }) => !namespaces.includes("*"));
  return [
    {
      name: "panel-origin",
      message: sharesOrigin
        ? "keys other than the root key can install workers, and pages of workers can act as the operator who opens them: set RUNTIME_PANEL_HOST"
        : undefined,
    },
    {
      name: "plugin-uploads",
      message: mayUploadAnywhere
        ? "a key with a namespace restriction can upload plugins, which run as the daemon: set RUNTIME_PLUGIN_UPLOADS to admin, root or off"
        : undefined,
    },
  ];
}
