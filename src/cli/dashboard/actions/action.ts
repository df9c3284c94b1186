import type { Client } from "../../../shared/client.js";
import type { Permission } from "../../../shared/permissions.js";
import type { ActionId } from "../keyboard/keymap.js";
import { reasonOf, type Session } from "../session/session.js";
import type { Dashboard } from "../dashboard.js";

/** What an action came to, where a sentence does not say it. */
export interface Outcome {
  readonly text: string;
  /** It was done, but is not what was hoped for. */
  readonly isWarning?: boolean;
  /** What there is to read about it. */
  readonly lines?: readonly string[];
}

/** Something that a key does to what is selected. A command can do the same. */
export interface Action<Target> {
  readonly id: ActionId;
  /** The command line that does the same. */
  readonly line: (target: Target) => string;
  /** Without it the key only says so. */
  readonly permission: Permission;
  /** Why it cannot be done to this one; undefined when it can. */
  readonly refusal?: (target: Target) => string | undefined;
  /** For what cannot be undone: the consequence in numbers, and the name that a person types to agree; without one `y` is enough. */
  readonly confirmation?: (target: Target) => { readonly consequence: string; readonly name?: string };
  /** Said while it takes its time. */
  readonly doing?: string;
  /** Does it; says what was done. */
  readonly run: (client: Client, target: Target, session: Session) => Promise<string | Outcome>;
  /** The way back, for what can be undone. */
  readonly undo?: (client: Client, target: Target) => Promise<string | Outcome>;
}

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

/** The way back from what was done last, where there is one. */
export class Undo {
  #step: (() => Promise<void>) | undefined;

  remember(step: (() => Promise<void>) | undefined): void {
    this.#step = step;
  }

  get isPossible(): boolean {
    return this.#step !== undefined;
  }

  /** Goes back once. */
  async run(): Promise<void> {
    const step = this.#step;
    this.#step = undefined;
    await step?.();
  }
}
