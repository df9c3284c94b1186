import type { Principal } from "../../shared/contract/principal.js";
import type { Permission } from "../../shared/permissions.js";
import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";

/**
 * Returns the signed-in principal. Throws if no session exists. Works only in components inside `Shell`, which renders only during a
 * session.
 */
export function usePrincipal(): Principal {
  const state = useObserved(usePanel().session.state);
  if (state.phase !== "signed-in") throw new Error("no operator is signed in");
  return state.principal;
}

/** Whether the signed-in key has a permission. Used only to show or hide controls, because the daemon enforces the permissions. */
export function useMay(permission: Permission): boolean {
  return usePrincipal().permissions.includes(permission);
}
