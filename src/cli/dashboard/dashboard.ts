import type { Context } from "../command/command.js";
import type { KeyDispatcher } from "./keyboard/key-dispatcher.js";
import type { Keymap } from "./keyboard/keymap.js";
import type { Overlays } from "./components/overlays.js";
import type { PaletteHistory } from "./palette/palette-history.js";
import type { Sessions } from "./session/sessions.js";
import type { Undo } from "./actions/action.js";

/** What every part of the dashboard works with. */
export interface Dashboard {
  readonly context: Context;
  readonly isReadOnly: boolean;
  /** For a screen reader: what was shown stays in the terminal. */
  readonly isAccessible: boolean;
  readonly keymap: Keymap;
  readonly dispatcher: KeyDispatcher;
  readonly overlays: Overlays;
  readonly sessions: Sessions;
  readonly undo: Undo;
  readonly history: PaletteHistory;
  /** Puts text into the clipboard of the person's terminal. */
  readonly copy: (text: string) => void;
  /** Ends the dashboard. */
  readonly quit: () => void;
}
