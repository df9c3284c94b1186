import type { Client } from "../../../shared/client.js";
import type { Permission } from "../../../shared/permissions.js";
import type { ActionId } from "../keymap.js";
import type { Session } from "../session.js";

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
