import { useState } from "react";
import type { Handlers } from "../keyboard/key-dispatcher.js";
import type { LogLine } from "./log-line.js";

interface Options {
  readonly lines: readonly LogLine[];
  /** Number of terminal rows that show log lines. */
  readonly height: number;
  /** Returns the number of terminal rows that a log line needs. */
  readonly rowsOf: (line: LogLine) => number;
}

interface LogPosition {
  readonly selectedIndex: number;
  /** Index of the first visible log line. `lastIndex` is the index of the last visible log line. */
  readonly firstIndex: number;
  readonly lastIndex: number;
  readonly select: (index: number) => void;
  readonly moves: Handlers;
}

/**
 * Manages the visible part of a log. Shows the newest lines until the user moves the selection. Then the selected line keeps its position
 * when new lines arrive.
 */
export function useLogPosition({ lines, height, rowsOf }: Options): LogPosition {
  const [place, setPlace] = useState<{ readonly key: string; readonly below: number }>();
  const end = lines.length - 1;
  const selectedIndex = place === undefined ? end : Math.max(0, indexOf(lines, place.key));
  let lastIndex = place === undefined ? end : Math.min(end, selectedIndex + place.below);
  let firstIndex = firstInSight(lines, { lastIndex, height, rowsOf });
  while (firstIndex > selectedIndex && lastIndex > selectedIndex) {
    lastIndex -= 1;
    firstIndex = firstInSight(lines, { lastIndex, height, rowsOf });
  }
  const select = (wanted: number) => {
    const index = Math.max(0, Math.min(wanted, end));
    const line = lines[index];
    if (index === end || line === undefined) return setPlace(undefined);
    const below = index > lastIndex ? 0 : index < firstIndex ? lastIndex - firstIndex : lastIndex - index;
    setPlace({ key: line.key, below });
  };
  const moves: Handlers = {
    "list.down": () => select(selectedIndex + 1),
    "list.up": () => select(selectedIndex - 1),
    "list.pageDown": () => select(selectedIndex + height),
    "list.pageUp": () => select(selectedIndex - height),
    "list.first": () => select(0),
    "list.last": () => select(end),
  };
  return { selectedIndex, firstIndex, lastIndex, select, moves: lines.length > 0 ? moves : {} };
}

/** Returns the index of the log line with this identifier. Searches backwards, because the selected line is usually near the end. */
function indexOf(lines: readonly LogLine[], key: string): number {
  return lines.findLastIndex((line) => line.key === key);
}

function firstInSight(lines: readonly LogLine[], { lastIndex, height, rowsOf }: Omit<Options, "lines"> & { lastIndex: number }): number {
  let [first, rows] = [lastIndex, 0];
  for (let index = lastIndex; index >= 0; index -= 1) {
    const line = lines[index];
    rows += line ? rowsOf(line) : 0;
    if (rows > height) break;
    first = index;
  }
  return Math.max(0, first);
}
