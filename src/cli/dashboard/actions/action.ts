import type { Client } from "../../../shared/client.js";
import type { Permission } from "../../../shared/permissions.js";
import type { ActionId } from "../keyboard/keymap.js";
import { reasonOf, type Session } from "../session/session.js";
import type { Dashboard } from "../dashboard.js";
import type { OneTimeSecret } from "../keys/one-time-secret.js";

/** The result of an action that needs more than one sentence, such as a warning or a new API key. */
export interface Outcome {
  readonly text: string;
  /** Whether the action succeeded, but with a problem such as a plugin that failed to load. */
  readonly isWarning?: boolean;
  /** Details of the result. The dashboard shows them in an overlay. */
  readonly lines?: readonly string[];
  /** A new API key. The dashboard shows it once, above the lines. */
  readonly secret?: OneTimeSecret;
}

/** An action of the dashboard, which a shortcut runs on the selected item. Every action has an equivalent runtimectl command. */
export interface Action<Target> {
  readonly id: ActionId;
  /** Returns the command line that is equivalent to the action. */
  readonly line: (target: Target) => string;
  /** The permissions that the action requires. If the API key lacks one, the shortcut only shows the name of this permission. */
  readonly permission: Permission | readonly Permission[];
  /** Returns the reason why the action is not possible for the target. Undefined if the action is possible. */
  readonly refusal?: (target: Target) => string | undefined;
  /**
   * Returns the consequence to confirm, and the name that the user types to confirm. Without a name, the user types `y`. For a production
   * profile, the user always types the name of the profile. Undefined if no confirmation is needed.
   */
  readonly confirmation?: (target: Target, isProduction: boolean) => { readonly consequence: string; readonly name?: string } | undefined;
  /** Text that the dashboard shows while a slow action runs. */
  readonly doing?: string;
  /** Runs the action and returns its result. */
  readonly run: (client: Client, target: Target, session: Session) => Promise<string | Outcome>;
  /** Reverts the action and returns the result. Undefined if the action cannot be reverted. */
  readonly undo?: (client: Client, target: Target) => Promise<string | Outcome>;
}

interface TargetedAction<Target> {
  readonly action: Action<Target>;
  readonly target: Target;
}

/** Runs an action: asks for confirmation, shows the result, and stores the function that reverts the action. */
export async function perform<Target>(dashboard: Dashboard, session: Session, { action, target }: TargetedAction<Target>): Promise<void> {
  const { overlays, undo } = dashboard;
  const refusal = action.refusal?.(target);
  if (refusal !== undefined) return overlays.say("note", refusal);
  if (!(await isWanted(dashboard, session, { action, target }))) return overlays.say("note", "nothing changed");
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
  const profile = settings.isProduction ? settings.profile?.value : undefined;
  const confirmation = action.confirmation?.(target, profile !== undefined);
  if (confirmation === undefined) return true;
  return overlays.ask({ ...confirmation, name: profile ?? confirmation.name, isProduction: profile !== undefined });
}

async function report({ overlays }: Dashboard, session: Session, run: () => Promise<string | Outcome>): Promise<void> {
  try {
    const { text, isWarning = false, lines, secret } = toOutcome(await run());
    overlays.say(isWarning ? "warning" : "done", text);
    if (secret) overlays.show({ kind: "reveal", secret, about: lines ?? [] });
    // Does not replace an overlay that the user opened while the action ran.
    if (lines && overlays.state().overlay === undefined) overlays.show({ kind: "lines", title: text, lines });
  } catch (error) {
    overlays.say("failed", reasonOf(error));
  }
  session.live.refresh();
}

function toOutcome(done: string | Outcome): Outcome {
  return typeof done === "string" ? { text: done } : done;
}

/** Stores the function that reverts the last action of the user. */
export class Undo {
  #step: (() => Promise<void>) | undefined;

  remember(step: (() => Promise<void>) | undefined): void {
    this.#step = step;
  }

  get isPossible(): boolean {
    return this.#step !== undefined;
  }

  /** Reverts the last action. A second call has no effect. */
  async run(): Promise<void> {
    const step = this.#step;
    this.#step = undefined;
    await step?.();
  }
}
