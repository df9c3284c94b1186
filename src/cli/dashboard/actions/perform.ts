import type { Dashboard } from "../dashboard.js";
import type { Session } from "../session.js";
import { reasonOf } from "../reason-of.js";
import type { Action, Outcome } from "./action.js";

interface TargetedAction<Target> {
  readonly action: Action<Target>;
  readonly target: Target;
}

/** Runs an action: asks for its confirmation, reports its outcome, and keeps its undo. */
export async function perform<Target>(dashboard: Dashboard, session: Session, { action, target }: TargetedAction<Target>): Promise<void> {
  const { overlays, undo } = dashboard;
  const refusal = action.refusal?.(target);
  if (refusal !== undefined) return overlays.say("note", refusal);
  if (!(await isWanted(dashboard, session, { action, target }))) return overlays.say("note", "nothing was changed");
  if (action.doing !== undefined) overlays.say("note", `${action.doing} …`);
  await report(dashboard, session, async () => {
    const done = toOutcome(await action.run(await session.client(), target, session));
    const back = action.undo;
    undo.remember(back && (() => report(dashboard, session, async () => back(await session.client(), target))));
    return back ? { ...done, text: `${done.text} · ${dashboard.keymap.keyOf("undo")} undoes it` } : done;
  });
}

async function isWanted<Target>(
  { overlays }: Dashboard,
  { settings }: Session,
  { action, target }: TargetedAction<Target>,
): Promise<boolean> {
  const confirmation = action.confirmation?.(target);
  if (confirmation === undefined) return true;
  const profile = settings.isProduction ? settings.profile?.value : undefined;
  return overlays.ask({ ...confirmation, name: profile ?? confirmation.name, isProduction: profile !== undefined });
}

async function report({ overlays }: Dashboard, session: Session, run: () => Promise<string | Outcome>): Promise<void> {
  try {
    const { text, isWarning = false, lines } = toOutcome(await run());
    overlays.say(isWarning ? "warning" : "done", text);
    // An overlay that was opened meanwhile stays.
    if (lines && overlays.state().overlay === undefined) overlays.show({ kind: "lines", title: text, lines });
  } catch (error) {
    overlays.say("failed", reasonOf(error));
  }
  session.live.refresh();
}

function toOutcome(done: string | Outcome): Outcome {
  return typeof done === "string" ? { text: done } : done;
}
