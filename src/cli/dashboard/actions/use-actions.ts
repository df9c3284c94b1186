import type { Permission } from "../../../shared/permissions.js";
import { perform, type Action } from "./action.js";
import type { Dashboard } from "../dashboard.js";
import { useKeyScope, type Handlers } from "../keyboard/key-dispatcher.js";
import { lacking, useMay, useMissingPermissions } from "../components/require-permission.js";
import type { Session } from "../session/session.js";
import { useDashboard, useSession } from "../session/hooks.js";

const nothing: Offer = { handlers: {}, refusals: {}, lines: [] };

/**
 * Registers the shortcuts of the actions for the selected item. If an action is not possible, the shortcut shows the reason. The shortcut
 * `x` shows equivalent commands: `line` for the screen, and one per possible action.
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
  /** Handlers for the shortcuts of actions that are not possible. Each handler shows the reason. */
  readonly refusals: Handlers;
  /** The command lines that are equivalent to the possible actions. */
  readonly lines: readonly string[];
}

interface Situation<Target> {
  readonly target: Target;
  readonly may: (permission: Permission) => boolean;
  readonly missing: readonly Permission[];
  readonly dashboard: Dashboard;
  readonly session: Session;
}

function offer<Target>(actions: readonly Action<Target>[], { target, may, missing, dashboard, session }: Situation<Target>): Offer {
  const mayAll = ({ permission }: Action<Target>) => [permission].flat().every((one) => may(one));
  const missingOf = ({ permission }: Action<Target>) => [permission].flat().find((one) => missing.includes(one));
  const whyNot = (action: Action<Target>) => {
    const one = missingOf(action);
    return one === undefined ? action.refusal?.(target) : lacking(one);
  };
  const possible = actions.filter((action) => mayAll(action) && whyNot(action) === undefined);
  const refused = actions.flatMap((action) => {
    const reason = mayAll(action) || missingOf(action) !== undefined ? whyNot(action) : undefined;
    return reason === undefined ? [] : [[action.id, () => dashboard.overlays.say("note", reason)] as const];
  });
  return {
    handlers: Object.fromEntries(possible.map((action) => [action.id, () => void perform(dashboard, session, { action, target })])),
    refusals: Object.fromEntries(refused),
    lines: possible.map((action) => action.line(target)),
  };
}
