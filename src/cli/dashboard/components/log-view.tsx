import { Box } from "ink";
import { useMemo, useState } from "react";
import { pluralize } from "../../output/pluralize.js";
import { useDashboard } from "../hooks/use-dashboard.js";
import { useKeyScope } from "../hooks/use-key-scope.js";
import { useLogFollower } from "../hooks/use-log-feed.js";
import { useLogPosition } from "../hooks/use-log-position.js";
import { useSize } from "../hooks/use-size.js";
import type { Handlers } from "../key-dispatcher.js";
import type { LogSnapshot } from "../log-follower.js";
import type { LogLine } from "../log-line.js";
import { matchesFilter } from "../matches-filter.js";
import { LogRow, logRowPieces, type LogColumns } from "./log-row.js";
import { PromptLine } from "./prompt-line.js";
import { SafeText } from "./safe-text.js";

/** Columns from which on a line has room for the worker and its version. */
const widthForBoth = 100;

interface Props {
  readonly names: readonly string[];
  /** One of the workers has several versions. */
  readonly hasVersions: boolean;
}

const textOf = ({ worker, entry, text }: LogLine) => `${worker} ${entry.version} ${entry.level} ${text}`;

/** The log of some workers as it grows: filter, search, pause. */
export function LogView({ names, hasVersions }: Props) {
  const { overlays, copy } = useDashboard();
  const { columns: width, rows } = useSize();
  const live = useLogFollower(names);
  const [held, setHeld] = useState<LogSnapshot>();
  const [look, setLook] = useState({ isWrapped: false, hasTimes: true });
  const [search, setSearch] = useState({ text: "", isTyping: false, hidesOthers: true });
  const { lines: all } = held ?? live;
  const lines = useMemo(
    () => (search.text === "" || !search.hidesOthers ? all : all.filter((line) => matchesFilter(textOf(line), search.text))),
    [all, search.text, search.hidesOthers],
  );
  const columns: LogColumns = {
    ...look,
    width,
    hasWorkers: names.length > 1,
    hasVersions: hasVersions && (names.length === 1 || width >= widthForBoth),
  };
  const height = rows - 1;
  const position = useLogPosition({ lines, height, rowsOf: (line) => logRowPieces(line, columns).length });
  const selected = lines[position.selectedIndex];
  const copySelected = ({ text }: LogLine) => {
    copy(text);
    overlays.say("done", "the line is in the clipboard, if the terminal allows that");
  };
  const jump = (step: 1 | -1) => {
    const index = nextIndex(lines, { from: position.selectedIndex, step, text: search.text });
    if (index === undefined) overlays.say("note", `no match ${step === 1 ? "after" : "before"} this`);
    else position.select(index);
  };
  const searching: Handlers =
    search.text === ""
      ? {}
      : {
          "list.back": () => setSearch({ ...search, ...(search.hidesOthers ? { hidesOthers: false } : { text: "", hidesOthers: true }) }),
          "logs.next": () => jump(1),
          "logs.previous": () => jump(-1),
        };
  useKeyScope({
    handlers: {
      ...position.moves,
      ...searching,
      "list.filter": () => setSearch({ ...search, isTyping: true, hidesOthers: true }),
      "logs.pause": () => setHeld(held ? undefined : live),
      "logs.wrap": () => setLook({ ...look, isWrapped: !look.isWrapped }),
      "logs.times": () => setLook({ ...look, hasTimes: !look.hasTimes }),
      ...(selected ? { copy: () => copySelected(selected) } : {}),
    },
    lines: live.followed.map((name) => `runtimectl workers logs ${name} -f`),
  });
  return (
    <Box flexDirection="column" height={rows} overflowY="hidden">
      {search.isTyping ? (
        <PromptLine
          label="filter:"
          initial={search.text}
          onChange={(text) => setSearch({ ...search, text })}
          onSubmit={(text) => setSearch({ ...search, text, isTyping: false })}
          onCancel={() => setSearch({ text: "", isTyping: false, hidesOthers: true })}
        />
      ) : (
        <SafeText dimColor>{headingOf({ names, live, held, search, shown: lines.length })}</SafeText>
      )}
      {lines.length === 0 ? (
        <SafeText wrap="wrap">{emptyText(live, { names, isFiltered: all.length > 0 })}</SafeText>
      ) : (
        <Box flexDirection="column" height={height} overflowY="hidden">
          {lines.slice(position.firstIndex, position.lastIndex + 1).map((line, index) => (
            <LogRow key={line.key} {...{ line, columns }} isSelected={position.firstIndex + index === position.selectedIndex} />
          ))}
        </Box>
      )}
    </Box>
  );
}

interface Heading {
  readonly names: readonly string[];
  readonly live: LogSnapshot;
  readonly held: LogSnapshot | undefined;
  readonly search: { readonly text: string; readonly hidesOthers: boolean };
  readonly shown: number;
}

function headingOf({ names, live, held, search, shown }: Heading): string {
  const [only = ""] = names;
  const of = names.length === 1 ? only : `${live.followed.length} of ${pluralize(names.length, "worker")}`;
  const state = { connecting: "connecting…", live: "live", lost: "connection lost, trying again" }[live.state];
  const found = search.text === "" ? "" : ` · ${search.hidesOthers ? "filter" : "search"}: ${search.text}`;
  const paused = held ? ` · paused, ${pluralize(live.totalLines - held.totalLines, "new line")}` : "";
  return `${of} · ${state} · ${pluralize(shown, "line")}${found}${paused}`;
}

function emptyText({ state, error }: LogSnapshot, { names, isFiltered }: { names: readonly string[]; isFiltered: boolean }): string {
  if (isFiltered) return "nothing fits the filter; esc shows all";
  if (error) return `cannot be followed: ${error.message}`;
  if (state !== "live") return "connecting…";
  return `nothing was written yet; what ${names.length === 1 ? names[0] : "workers write"} ${names.length === 1 ? "writes " : ""}appears here`;
}

interface Seeking {
  readonly from: number;
  readonly step: 1 | -1;
  readonly text: string;
}

function nextIndex(lines: readonly LogLine[], { from, step, text }: Seeking): number | undefined {
  for (let index = from + step; index >= 0 && index < lines.length; index += step) {
    const line = lines[index];
    if (line && matchesFilter(textOf(line), text)) return index;
  }
  return undefined;
}
