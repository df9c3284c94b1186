import type { IconName } from "../components/icon.js";
import type { HealthState } from "../components/state-dot.js";

/** An entry of the command menu. */
export interface Command {
  readonly id: string;
  readonly group: "Pages" | "Apps" | "Plugins" | "Instances" | "Actions";
  readonly icon: IconName;
  readonly title: string;
  /** State of the app or plugin that the entry opens. Undefined for other entries, and while the states are loading. */
  readonly state?: HealthState | undefined;
  /**
   * Whether the menu shows the entry only after the user types a search text, because there can be hundreds of such entries. Example: the
   * logs of an app.
   */
  readonly isDetail?: boolean;
  readonly run: () => void | Promise<void>;
}

/** Number of entries that the menu shows at once. */
const mostShown = 50;

/**
 * Returns the commands that contain all typed words. Titles that start with the text come first, then titles with a word that starts with
 * the text, then the rest. Without text, returns all commands except those with `isDetail`.
 */
export function matchCommands(commands: readonly Command[], typed: string): readonly Command[] {
  const text = typed.trim().toLowerCase();
  if (text === "") return commands.filter(({ isDetail }) => isDetail !== true).slice(0, mostShown);
  const words = text.split(/\s+/);
  const ranked = commands.flatMap((command) => {
    const title = command.title.toLowerCase();
    if (!words.every((word) => title.includes(word))) return [];
    const rank = title.startsWith(text) ? 0 : title.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(text)) ? 1 : 2;
    return [{ command, rank: rank + (command.isDetail ? 0.5 : 0) }];
  });
  return ranked
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, mostShown)
    .map(({ command }) => command);
}
