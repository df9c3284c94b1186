import type { Permission } from "../../../shared/permissions.js";
import type { Action } from "../actions/action.js";
import { perform } from "../actions/perform.js";
import type { Dashboard } from "../dashboard.js";
import type { Handlers } from "../key-dispatcher.js";
import { lacking } from "../lacking.js";
import type { Session } from "../session.js";
import { useDashboard } from "./use-dashboard.js";
import { useKeyScope } from "./use-key-scope.js";
import { useMay } from "./use-may.js";
import { useMissingPermissions } from "./use-missing-permissions.js";
import { useSession } from "./use-session.js";

/**
 * Offers actions on what is selected, as far as they can be done to it and the key may; the others say why not. None of them in
 * read-only mode. `line` is the command that shows what the screen shows: `x` tells it along with the lines of the actions.
 */
export function useActions<Target>(actions: readonly Action<Target>[], target: Target | undefined, line: string): void {
  const dashboard = useDashboard();
  const session = useSession();
  const may = useMay();
  const missing = useMissingPermissions(actions);
  const { handlers, refusals, lines } = target === undefined ? nothing : offer(actions, { target, may, missing, dashboard, session });
  useKeyScope({ handlers, refusals, lines: [line, ...lines] });
}

interface Offer {
  readonly handlers: Handlers;
  /** Say why not. */
  readonly refusals: Handlers;
  /** The command lines of what is offered. */
  readonly lines: readonly string[];
}

const nothing: Offer = { handlers: {}, refusals: {}, lines: [] };

interface Situation<Target> {
  readonly target: Target;
  readonly may: (permission: Permission) => boolean;
  readonly missing: readonly Permission[];
  readonly dashboard: Dashboard;
  readonly session: Session;
}

function offer<Target>(actions: readonly Action<Target>[], { target, may, missing, dashboard, session }: Situation<Target>): Offer {
  const whyNot = ({ permission, refusal }: Action<Target>) => (missing.includes(permission) ? lacking(permission) : refusal?.(target));
  const possible = actions.filter((action) => may(action.permission) && whyNot(action) === undefined);
  const refused = actions.flatMap((action) => {
    const reason = may(action.permission) || missing.includes(action.permission) ? whyNot(action) : undefined;
    return reason === undefined ? [] : [[action.id, () => dashboard.overlays.say("note", reason)] as const];
  });
  return {
    handlers: Object.fromEntries(possible.map((action) => [action.id, () => void perform(dashboard, session, { action, target })])),
    refusals: Object.fromEntries(refused),
    lines: possible.map((action) => action.line(target)),
  };
}
