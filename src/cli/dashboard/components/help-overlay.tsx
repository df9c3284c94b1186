import { actionTable, type ActionId } from "../keyboard/keymap.js";
import { useDashboard } from "../session/hooks.js";
import { useSize } from "../terminal/terminal-size.js";
import { fitted } from "../terminal/fitted.js";
import { LinesOverlay } from "./lines-overlay.js";

const columnWidth = 28;
const keyWidth = 10;

interface Props {
  /** The actions that are available on the current screen. */
  readonly valid: readonly ActionId[];
  readonly onClose: () => void;
}

/** Lists the keys that are available on the current screen. Keys of the screen come before general keys. */
export function HelpOverlay({ valid, onClose }: Props) {
  const { keymap } = useDashboard();
  const { columns } = useSize();
  const ids = (Object.keys(actionTable) as ActionId[]).filter((id) => valid.includes(id)).toSorted((a, b) => rank(a) - rank(b));
  const entries = ids.map((id) => `${fitted(keymap.keysOf(id).join(" "), keyWidth)} ${actionTable[id].label}`);
  const perLine = Math.max(1, Math.floor((columns - 2) / columnWidth));
  const lines = Array.from({ length: Math.ceil(entries.length / perLine) }, (_, line) =>
    entries
      .slice(line * perLine, (line + 1) * perLine)
      .map((entry) => fitted(entry, columnWidth))
      .join(""),
  );
  return (
    <LinesOverlay
      title="Available keys"
      lines={[...lines, "", "ctrl-c quits, ctrl-z suspends", "to change keys, set ui.keys in config.yaml"]}
      onClose={onClose}
    />
  );
}

function rank(id: ActionId): number {
  const { where } = actionTable[id];
  return where === "everywhere" ? 2 : where === "lists" ? 1 : 0;
}
