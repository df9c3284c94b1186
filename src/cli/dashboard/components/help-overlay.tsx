import { actionTable, type ActionId } from "../keyboard/keymap.js";
import { useDashboard } from "../session/hooks.js";
import { useSize } from "../terminal/terminal-size.js";
import { fitted } from "../terminal/fitted.js";
import { LinesOverlay } from "./lines-overlay.js";

const columnWidth = 28;
const keyWidth = 10;

interface Props {
  /** The actions for which the current screen has a shortcut that works now. */
  readonly valid: readonly ActionId[];
  readonly onClose: () => void;
}

/** Lists the shortcuts of the current screen in three groups: shortcuts of the screen, of lists, and of every screen. */
export function HelpOverlay({ valid, onClose }: Props) {
  const { keymap } = useDashboard();
  const { columns } = useSize();
  const perLine = Math.max(1, Math.floor((columns - 2) / columnWidth));
  const groups = Map.groupBy(
    (Object.keys(actionTable) as ActionId[]).filter((id) => valid.includes(id)),
    (id) => actionTable[id].where as string,
  );
  const lines = [...groups]
    .toSorted(([one], [other]) => rank(one) - rank(other))
    .flatMap(([where, ids]) => {
      const entries = ids.map((id) => fitted(`${fitted(keymap.keysOf(id).join(" "), keyWidth)} ${actionTable[id].label}`, columnWidth));
      const rows = Array.from({ length: Math.ceil(entries.length / perLine) }, (_, row) =>
        entries.slice(row * perLine, (row + 1) * perLine).join(""),
      );
      return [headings[where] ?? "This screen", ...rows.map((row) => `  ${row}`), ""];
    });
  return (
    <LinesOverlay
      title="Available keys"
      lines={[...lines, "ctrl-c quits, ctrl-z suspends", "to change keys, set ui.keys in config.yaml"]}
      onClose={onClose}
    />
  );
}

/** Headings for the two groups of shortcuts that work on several screens. */
const headings: Readonly<Record<string, string>> = { everywhere: "Everywhere", lists: "Lists" };

function rank(where: string): number {
  return where === "everywhere" ? 2 : where === "lists" ? 1 : 0;
}
