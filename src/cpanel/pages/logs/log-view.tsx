import { useEffect, useState } from "react";
import { Button } from "../../components/button.js";
import { EmptyState } from "../../components/empty-state.js";
import { ErrorMessage } from "../../components/error-message.js";
import { LoadingRows } from "../../components/loading-rows.js";
import { StateDot } from "../../components/state-dot.js";
import { useRoute } from "../../router/use-route.js";
import { useSearch } from "../../router/use-search.js";
import { usePanel } from "../../use-panel.js";
import { useMutation } from "../../components/use-mutation.js";
import { MissingInstances } from "../instances/missing-instances.js";
import { useInstanceLabels } from "../instances/use-instances.js";
import { LogHistogram } from "./log-histogram.js";
import { LogList } from "./log-list.js";
import { filterNames, readLogQuery, type LogQuery } from "./log-query.js";
import { LogToolbar } from "./log-toolbar.js";
import { useLogs } from "./use-logs.js";
import "./logs.css";

interface LogViewProps {
  /** The app whose log is shown. Undefined for the logs of all apps. */
  readonly app?: { readonly name: string; readonly versions: readonly { readonly version: string }[] };
  /** Names of the apps to choose from, without `app`. */
  readonly appNames?: readonly string[];
}

const phases = {
  connecting: "Connecting…",
  live: <StateDot state="ok">Live</StateDot>,
  lost: <StateDot state="degraded">Connection lost; trying again</StateDot>,
  refused: "Not followed",
} as const;

/** Shows the log of one app or of all, and new entries as they arrive. The daemon applies the filters, which are in the URL. */
export function LogView({ app, appNames = [] }: LogViewProps) {
  const query = useLogQuery(app, appNames);
  const { rows, total, phase, error, hasOlder, isPartial, loadOlder, retry } = useLogs(query);
  const [wrap, setWrap] = useSearch("wrap");
  const changeRange = useRange();
  const clear = useClear();
  const older = useMutation();
  const isFiltered = useIsFiltered();
  const instances = useInstanceLabels(query.instance);
  const hasEntries = rows.some(({ entry }) => entry !== undefined);
  const label = app ? `Log of ${app.name}` : "Log of all apps";
  return (
    <div className="log-view">
      <LogToolbar
        query={query}
        versions={app?.versions.map(({ version }) => version)}
        appNames={appNames}
        instances={instances}
        isWrapped={wrap !== "off"}
        onWrap={(isWrapped) => setWrap(isWrapped ? "" : "off")}
        phase={query.until === undefined || phase === "refused" ? phases[phase] : "Time range"}
      />
      {phase === "refused" && (
        <ErrorMessage title="The log cannot be followed" error={error}>
          <Button onPress={retry}>Try again</Button>
        </ErrorMessage>
      )}
      <MissingInstances instance={query.instance} noun="lines" />
      {older.error !== undefined && <ErrorMessage title="Older entries could not be read" error={older.error} />}
      {rows.length === 0 && phase === "connecting" && <LoadingRows noun="line" />}
      {!hasEntries && phase === "live" && (
        <EmptyState
          title={isFiltered ? "Nothing in the log matches" : "Nothing in the log yet"}
          action={isFiltered ? <Button onPress={clear}>Clear filters</Button> : undefined}
        >
          {isFiltered ? "New matching lines appear here." : "Lines that apps write to their console, and their requests, appear here."}
        </EmptyState>
      )}
      {hasEntries && (
        <>
          <LogHistogram rows={rows} since={query.since} until={query.until} isPartial={isPartial} onSelect={changeRange} />
          <LogList
            rows={rows}
            total={total}
            label={label}
            isWrapped={wrap !== "off"}
            hasNames={app === undefined}
            hasInstances={instances.length > 0 && query.instance === undefined}
            onNearStart={hasOlder && !older.isPending ? () => void older.run(loadOlder) : undefined}
          />
        </>
      )}
    </div>
  );
}

/**
 * Returns the filters in the URL. Applies a typed text 250 ms after its last change, because each change of the filters opens a new stream.
 */
function useLogQuery(app: LogViewProps["app"], appNames: readonly string[]): LogQuery {
  const { search } = useRoute();
  const text = useSettled((search.get("text") ?? "").trim());
  const version = app?.versions.find((installed) => installed.version === search.get("version"))?.version;
  const worker = app?.name ?? appNames.find((name) => name === search.get("app"));
  return { ...readLogQuery(search), worker, version, text: text === "" ? undefined : text };
}

function useIsFiltered(): boolean {
  const { search } = useRoute();
  return filterNames.some((name) => search.has(name));
}

/** Returns a function that selects a time range. The range is in Unix milliseconds. */
function useRange(): (sinceMs: number, untilMs: number) => void {
  const { router } = usePanel();
  return (sinceMs, untilMs) => {
    const search = new URLSearchParams(router.route.get().search);
    search.set("since", String(sinceMs));
    search.set("until", String(untilMs));
    router.setSearch(search);
  };
}

function useClear(): () => void {
  const { router } = usePanel();
  return () => {
    const search = new URLSearchParams(router.route.get().search);
    for (const name of filterNames) search.delete(name);
    router.setSearch(search);
  };
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
