import { useEffect, useRef, useState, useDeferredValue } from "react";
import { logLevels, type LogEntry, type LogLevel } from "../../../../shared/contract/worker-logs.js";
import { Button } from "../../../components/button.js";
import { ErrorMessage } from "../../../components/error-message.js";
import { ScrollRegion } from "../../../components/scroll-region.js";
import { SearchField } from "../../../components/search-field.js";
import { SelectField } from "../../../components/select-field.js";
import { EmptyState } from "../../../components/empty-state.js";
import { Toolbar } from "../../../components/toolbar.js";
import { useSearch } from "../../../router/use-search.js";
import type { LogQuery } from "./log-follower.js";
import type { App } from "../app.js";
import { LogLines } from "./log-lines.js";
import { useFollowEnd } from "./use-follow-end.js";
import { useLogs } from "./use-logs.js";
import "./logs.css";

/** Lowest log level that is shown by default. */
const usualLevel: LogLevel = "debug";

const phases = { connecting: "Connecting…", live: "Live", lost: "Connection lost; trying again…", refused: "Not followed" } as const;

/** Shows the log of an app, and new entries as they arrive. The daemon applies the filters. */
export function LogView({ app }: { app: App }) {
  const [level, setLevel] = useSearch("level");
  const [version, setVersion] = useSearch("version");
  const [entriesShown, setEntriesShown] = useSearch("entries");
  const [text, setText] = useSearch("text");
  const wanted = useSettled(text.trim());
  const { entries, total, phase, error, retry } = useLogs(app.name, {
    level: logLevels.find((known) => known === level) ?? usualLevel,
    version: app.versions.some((installed) => installed.version === version) ? version : undefined,
    text: wanted === "" ? undefined : wanted,
    ...entryQueries[entriesShown],
  });
  const [paused, setPaused] = useState<{ readonly entries: readonly LogEntry[]; readonly total: number }>();
  const shown = useDeferredValue(paused?.entries ?? entries);
  const isFiltered = level !== "" || version !== "" || entriesShown !== "" || text !== "";
  return (
    <>
      <Toolbar label="Filter logs">
        <SearchField label="Search in text" value={text} onChange={setText} />
        <SelectField label="Entries" value={entriesShown} onChange={setEntriesShown} choices={entryChoices} />
        <SelectField label="Level" value={level} onChange={setLevel} choices={levelChoices} />
        <SelectField
          label="Version"
          value={version}
          onChange={setVersion}
          choices={[
            { value: "", label: "all" },
            ...app.versions.map((installed) => ({ value: installed.version, label: installed.version })),
          ]}
        />
        <Button onPress={() => setPaused(paused ? undefined : { entries, total })} aria-pressed={paused !== undefined}>
          {paused ? `Resume (${Math.max(0, total - paused.total).toLocaleString("en-GB")} new)` : "Pause"}
        </Button>
        <span role="status" className={`log-phase log-phase-${phase}`}>
          {paused ? "Paused" : phases[phase]}
        </span>
      </Toolbar>
      {phase === "refused" && (
        <ErrorMessage title="The log cannot be followed" error={error}>
          <Button onPress={retry}>Try again</Button>
        </ErrorMessage>
      )}
      {shown.length === 0 && phase === "live" && (
        <EmptyState title={isFiltered ? "Nothing in the log matches" : "Nothing in the log yet"}>
          {isFiltered ? "New matching lines appear here." : "Lines that the app writes to its console, and its requests, appear here."}
        </EmptyState>
      )}
      {shown.length > 0 && <LogBox entries={shown} isHeld={paused !== undefined} label={`Log of ${app.name}`} />}
    </>
  );
}

const entryChoices = [
  { value: "", label: "all" },
  { value: "output", label: "output of the app" },
  { value: "requests", label: "requests" },
  { value: "errors", label: "requests with status 5xx" },
];

/** Query parameters for each choice of the filter `Entries`. An unknown value in the page's URL selects all entries. */
const entryQueries: Readonly<Record<string, Pick<LogQuery, "source" | "status">>> = {
  output: { source: "app" },
  requests: { source: "request" },
  errors: { status: "5xx" },
};

const levelChoices = [
  { value: "", label: "all" },
  { value: "info", label: "info and above" },
  { value: "warn", label: "warn and above" },
  { value: "error", label: "error" },
];

/** Log viewer. Shows the newest entries and scrolls to new entries until the user scrolls up. */
function LogBox({ entries, isHeld, label }: { entries: readonly LogEntry[]; isHeld: boolean; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const onScroll = useFollowEnd(box, { content: entries, isHeld });
  return (
    <ScrollRegion ref={box} className="log-box" label={label} onScroll={onScroll}>
      <LogLines entries={entries} />
    </ScrollRegion>
  );
}

/** Returns the search text after 250 ms without typing, because each new text opens a new log stream. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
