import { Box } from "ink";
import { useMemo, useState, memo } from "react";
import { pluralize } from "../../output/format.js";
import { useDashboard } from "../session/hooks.js";
import { useKeyScope, type Handlers } from "../keyboard/key-dispatcher.js";
import { useInstances } from "../instances/use-instances.js";
import { useLogFollower, type LogSnapshot } from "./log-follower.js";
import { useLogPosition } from "./use-log-position.js";
import { useSize } from "../terminal/terminal-size.js";
import type { LogLine } from "./log-line.js";
import { matchesFilter } from "../components/list.js";
import { PromptLine } from "../components/prompt-line.js";
import { SafeText } from "../components/safe-text.js";
import { localTime } from "../../commands/workers/log-line.js";
import { fitted } from "../terminal/fitted.js";
import { wrapped } from "../terminal/wrapped.js";
import { levelColors } from "./log-tail.js";

/** Terminal width in columns from which log lines show worker and version. A narrower terminal shows only one of them. */
const widthForBoth = 100;

const markWidth = 2;
const instanceWidth = 12;
const workerWidth = 16;
const versionWidth = 10;
/** Shows a log line on one row. If wrapping is enabled, shows a long line on several rows. */
const LogRow = memo(
  function LogRow({ line, columns, isSelected }: LogRowProps) {
    const color = levelColors[line.entry.level];
    const head = headOf(line, columns);
    return (
      <Box flexDirection="column" flexShrink={0}>
        {logRowPieces(line, columns).map((piece, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- rows have no other identity; two rows can be equal
          <SafeText key={index} inverse={isSelected} {...(color === undefined ? {} : { color })}>
            {`${isSelected ? "> " : "  "}${index === 0 ? head : " ".repeat(head.length)}${piece === "" && head === "" ? " " : piece}`}
          </SafeText>
        ))}
      </Box>
    );
  },
  (before, after) =>
    before.line === after.line &&
    before.isSelected === after.isSelected &&
    JSON.stringify(before.columns) === JSON.stringify(after.columns),
);

/** The options of the line filter: all lines, only output of workers and messages of the daemon, or only requests. */
const lineKinds = ["all lines", "output", "requests"] as const;
type LineKind = (typeof lineKinds)[number];

interface LogViewProps {
  readonly names: readonly string[];
  /** Whether at least one of the followed workers has several versions. */
  readonly hasVersions: boolean;
}

const textOf = ({ worker, entry, text }: LogLine) => `${entry.instance ?? ""} ${worker} ${entry.version} ${entry.level} ${text}`;

/** Shows the log lines of workers as they arrive, with a filter, a search and a pause. */
export function LogView({ names, hasVersions }: LogViewProps) {
  const { overlays, copy } = useDashboard();
  const { columns: width, rows } = useSize();
  const live = useLogFollower(names);
  const hasInstances = (useInstances().value ?? []).length > 1;
  const [held, setHeld] = useState<LogSnapshot>();
  const [display, setDisplay] = useState({ isWrapped: false, hasTimes: true });
  const [search, setSearch] = useState({ text: "", isTyping: false, hidesOthers: true });
  const [kind, setKind] = useState<LineKind>("all lines");
  const { lines: all } = held ?? live;
  const lines = useMemo(() => {
    const ofKind = kind === "all lines" ? all : all.filter(({ entry }) => (entry.source === "request") === (kind === "requests"));
    return search.text === "" || !search.hidesOthers ? ofKind : ofKind.filter((line) => matchesFilter(textOf(line), search.text));
  }, [all, kind, search.text, search.hidesOthers]);
  const columns: LogColumns = {
    ...display,
    width,
    hasInstances,
    hasWorkers: names.length > 1,
    hasVersions: hasVersions && (names.length === 1 || width >= widthForBoth),
  };
  const height = rows - 1;
  const position = useLogPosition({ lines, height, rowsOf: (line) => logRowPieces(line, columns).length });
  const selected = lines[position.selectedIndex];
  const copySelected = ({ text }: LogLine) => {
    copy(text);
    overlays.say("done", "line copied, if the terminal allows clipboard access");
  };
  const jump = (step: 1 | -1) => {
    const index = nextIndex(lines, { from: position.selectedIndex, step, text: search.text });
    if (index === undefined) overlays.say("note", `no ${step === 1 ? "next" : "previous"} match`);
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
      "logs.source": () => setKind(lineKinds[(lineKinds.indexOf(kind) + 1) % lineKinds.length] ?? "all lines"),
      "logs.pause": () => setHeld(held ? undefined : live),
      "logs.wrap": () => setDisplay({ ...display, isWrapped: !display.isWrapped }),
      "logs.times": () => setDisplay({ ...display, hasTimes: !display.hasTimes }),
      ...(selected ? { copy: () => copySelected(selected) } : {}),
    },
    lines: [["runtimectl workers logs", ...(names.length === 1 ? names : []), "-f"].join(" ")],
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
        <SafeText dimColor>{headingOf({ names, live, held, kind, search, shown: lines.length })}</SafeText>
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
  readonly kind: LineKind;
  readonly shown: number;
}

function headingOf({ names, live, held, kind, search, shown }: Heading): string {
  const [name = ""] = names;
  const of = names.length === 1 ? name : pluralize(names.length, "worker");
  const state = { connecting: "connecting…", live: "live", lost: "connection lost, reconnecting" }[live.state];
  const found = search.text === "" ? "" : ` · ${search.hidesOthers ? "filter" : "search"}: ${search.text}`;
  const paused = held ? ` · paused, ${pluralize(live.totalLines - held.totalLines, "new line")}` : "";
  const only = kind === "all lines" ? "" : ` · only ${kind}`;
  return `${of} · ${state} · ${pluralize(shown, "line")}${only}${found}${paused}`;
}

function emptyText({ state, error }: LogSnapshot, { names, isFiltered }: { names: readonly string[]; isFiltered: boolean }): string {
  if (isFiltered) return "no matches; esc clears the filter, s shows other lines";
  if (error) return `cannot load the log: ${error.message}`;
  if (state !== "live") return "connecting…";
  return `no entries yet; new entries of ${names.length === 1 ? names[0] : "workers"} appear here`;
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

/** The columns to show, and the width of the log view. */
interface LogColumns {
  readonly width: number;
  readonly isWrapped: boolean;
  readonly hasTimes: boolean;
  readonly hasInstances: boolean;
  readonly hasWorkers: boolean;
  readonly hasVersions: boolean;
}

interface LogRowProps {
  readonly line: LogLine;
  readonly columns: LogColumns;
  readonly isSelected: boolean;
}

/** Splits a log line into the texts of the terminal rows that show it. */
function logRowPieces(line: LogLine, columns: LogColumns): string[] {
  return columns.isWrapped ? wrapped(line.text, columns.width - markWidth - headWidth(columns)) : [line.text];
}

function headWidth({ hasTimes, hasInstances, hasWorkers, hasVersions }: LogColumns): number {
  return (
    (hasTimes ? 13 : 0) +
    6 +
    (hasInstances ? instanceWidth + 1 : 0) +
    (hasWorkers ? workerWidth + 1 : 0) +
    (hasVersions ? versionWidth + 1 : 0)
  );
}

function headOf({ entry, worker, isFirst }: LogLine, columns: LogColumns): string {
  if (!isFirst) return " ".repeat(headWidth(columns));
  const parts = [
    ...(columns.hasTimes ? [localTime(new Date(entry.time), new Date(entry.time))] : []),
    entry.level.padEnd(5),
    ...(columns.hasInstances ? [fitted(entry.instance ?? "", instanceWidth)] : []),
    ...(columns.hasWorkers ? [fitted(worker, workerWidth)] : []),
    ...(columns.hasVersions ? [fitted(entry.version, versionWidth)] : []),
  ];
  return `${parts.join(" ")} `;
}
