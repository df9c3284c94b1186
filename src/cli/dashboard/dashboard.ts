import type { Context } from "../command/command.js";
import type { KeyDispatcher } from "./keyboard/key-dispatcher.js";
import type { Keymap } from "./keyboard/keymap.js";
import type { Overlays } from "./components/overlays.js";
import type { PaletteHistory } from "./palette/palette-history.js";
import type { Sessions } from "./session/sessions.js";
import type { Undo } from "./actions/action.js";

/** State and services that the components of the dashboard share. */
export interface Dashboard {
  readonly context: Context;
  readonly isReadOnly: boolean;
  /** Whether screen reader mode is active, in which earlier output stays visible in the terminal. */
  readonly isAccessible: boolean;
  readonly keymap: Keymap;
  readonly dispatcher: KeyDispatcher;
  readonly overlays: Overlays;
  readonly sessions: Sessions;
  readonly undo: Undo;
  readonly history: PaletteHistory;
  /** Copies text to the clipboard of the user's terminal. */
  readonly copy: (text: string) => void;
  /** Closes the dashboard. */
  readonly quit: () => void;
}
