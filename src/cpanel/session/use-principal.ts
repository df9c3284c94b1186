import type { Principal } from "../../shared/contract/principal.js";
import type { Permission } from "../../shared/permissions.js";
import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";

/** Who is signed in; only below the shell, which nobody else sees. */
export function usePrincipal(): Principal {
  const state = useObserved(usePanel().session.state);
  if (state.phase !== "signed-in") throw new Error("nobody is signed in");
  return state.principal;
}

/** Whether the key holds a permission. It shows and hides only: the daemon decides. */
export function useMay(permission: Permission): boolean {
  return usePrincipal().permissions.includes(permission);
}
