import { ApiError } from "../../shared/api-error.js";
import type { Principal } from "../../shared/contract/principal.js";
import type { KeyStore } from "../access/key-store.js";
import type { ResourceHandlers } from "../http/handler.js";

export function createIndexHandlers({ store }: { store: Pick<KeyStore, "readState" | "resync"> }): ResourceHandlers<"index"> {
  return {
    show: ({ principal }) => {
      assertUnrestricted(principal);
      const { mode, problem = null, divergence = null } = store.readState();
      return { mode, problem, divergence };
    },
    resync: async ({ body: { mode }, principal }) => {
      assertUnrestricted(principal);
      return { success: true, data: { mode, ...(await store.resync(mode)) } };
    },
  };
}

function assertUnrestricted({ name, namespaces }: Principal): void {
  if (namespaces.includes("*")) return;
  throw new ApiError(
    "NAMESPACE_DENIED",
    `The key "${name}" is restricted to ${namespaces.join(", ")}, and the index concerns all namespaces. Use a key for all namespaces.`,
  );
}
