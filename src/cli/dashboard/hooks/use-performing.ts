import type { Action } from "../actions/action.js";
import { perform } from "../actions/perform.js";
import { useDashboard } from "./use-dashboard.js";
import { useSession } from "./use-session.js";

/** Does an action to what was typed for it. */
export function usePerforming(): <Target>(action: Action<Target>, target: Target) => void {
  const dashboard = useDashboard();
  const session = useSession();
  return (action, target) => void perform(dashboard, session, { action, target });
}
