import { ApiError } from "../../shared/api-error.js";
import type { Principal } from "../../shared/contract/principal.js";
import { assertPluginUpload } from "../access/plugin-uploads.js";
import type { PluginUploadMode } from "../config/config-variables.js";
import type { ResourceHandlers } from "../http/handler.js";
import type { PluginConfigurations } from "../packages/configuration/plugin-configurations.js";
import { fileCallerOf } from "./files.js";

/**
 * Permission to read and change the text of a manifest and to read the values of `env`. A key without this permission can change only
 * single settings.
 */
const permissionForText = "plugins:install";

interface PluginConfigHandlersOptions {
  readonly configurations: PluginConfigurations;
  readonly pluginUploads: PluginUploadMode;
  /** Reloads plugins, so that the changed configuration takes effect. */
  readonly reload: () => Promise<unknown>;
}

export function createPluginConfigHandlers({
  configurations,
  pluginUploads,
  reload,
}: PluginConfigHandlersOptions): ResourceHandlers<"pluginConfig"> {
  return {
    show: ({ params, principal }) => configurations.read(params.name, fileCallerOf(principal, permissionForText)),
    change: async ({ params, body, principal }) => {
      if (body.yaml !== undefined) assertTextAllowed(principal, pluginUploads);
      const caller = fileCallerOf(principal, permissionForText);
      await configurations.change(params.name, body, caller);
      await reload();
      return configurations.read(params.name, caller);
    },
  };
}

/**
 * The text of a manifest can also change the code and the base path of a plugin. The daemon therefore checks the caller by the rules for
 * uploads of plugins.
 */
function assertTextAllowed(principal: Principal, pluginUploads: PluginUploadMode): void {
  if (!principal.permissions.includes(permissionForText))
    throw new ApiError(
      "PERMISSION_DENIED",
      `Changing the whole manifest needs the permission ${permissionForText}, which the key "${principal.name}" (role ${principal.role}) does not have. Without this permission, send only the changed settings, in the field \`set\`.`,
    );
  assertPluginUpload(pluginUploads, principal);
}
