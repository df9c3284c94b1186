import { ApiError } from "../../shared/api-error.js";
import type { Settings } from "../../shared/contract/settings.js";
import type { ResourceHandlers } from "../http/handler.js";

/** `readSettings` returns the current settings of the daemon. */
export function createSettingsHandlers(readSettings: () => Promise<Settings>): ResourceHandlers<"settings"> {
  return {
    show: ({ principal: { name, namespaces } }) => {
      if (namespaces.includes("*")) return readSettings();
      throw new ApiError(
        "NAMESPACE_DENIED",
        `The key "${name}" is restricted to ${namespaces.join(", ")}, and the settings concern all namespaces. Use a key for all namespaces.`,
      );
    },
  };
}
