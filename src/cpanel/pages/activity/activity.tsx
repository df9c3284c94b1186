import { useDeferredValue, useEffect, useMemo, useState } from "react";
import { auditActions } from "../../../shared/contract/audit.js";
import { nounOf } from "../../../shared/contract/changes.js";
import { eventTypes } from "../../../shared/contract/events.js";
import { Button } from "../../components/button.js";
import { DataTable } from "../../components/data-table.js";
import { EmptyState } from "../../components/empty-state.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Icon } from "../../components/icon.js";
import { LoadingRows } from "../../components/loading-rows.js";
import { PageHeading } from "../../components/page-heading.js";
import { saveAs } from "../../components/save-as.js";
import { SearchField } from "../../components/search-field.js";
import { SelectField } from "../../components/select-field.js";
import { StateDot } from "../../components/state-dot.js";
import { Toolbar } from "../../components/toolbar.js";
import { useMutation } from "../../components/use-mutation.js";
import { useApi } from "../../live/use-api.js";
import { Observable } from "../../live/observable.js";
import { useObserved } from "../../live/use-observed.js";
import { useSearch } from "../../router/use-search.js";
import { useMay } from "../../session/use-principal.js";
import { MissingInstances } from "../instances/missing-instances.js";
import { useInstanceLabels } from "../instances/use-instances.js";
import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { activityColumns } from "./activity-columns.js";
import { filterActivity, outcomes, toJsonLines, type ActivityEntry } from "./activity-entry.js";
import { ActivityFollower, activityOperations, type ActivityState } from "./activity-follower.js";
import "./activity.css";

const before = new Observable<ActivityState>({ entries: [], phase: "connecting", error: undefined, hasOlder: false });

/** Page with the audit log and the events in one table, newest first. The filters are stored in the query of the page's URL. */
export function Activity({ rest }: SectionProps) {
  const mayAudit = useMay("audit:read");
  const { entries, phase, error, hasOlder, loadOlder, retry } = useActivity(mayAudit);
  const [search, setSearch] = useSearch("search");
  const [who, setWho] = useSearch("who");
  const [action, setAction] = useSearch("action");
  const [outcome, setOutcome] = useSearch("outcome");
  const [instance, setInstance] = useSearch("instance");
  const instances = useInstanceLabels(instance);
  const older = useMutation();
  const wanted = useDeferredValue(search);
  const rows = useMemo(
    () => filterActivity(entries, { search: wanted, who, action, outcome, instance }),
    [entries, wanted, who, action, outcome, instance],
  );
  const hasInstances = instances.length > 0;
  const columns = useMemo(() => activityColumns({ mayAudit, hasInstances }), [mayAudit, hasInstances]);
  if (rest.length > 0) return <NotFound />;
  const clear = () => {
    for (const set of [setSearch, setWho, setAction, setOutcome, setInstance]) set("");
  };
  return (
    <>
      <PageHeading
        title="Activity"
        note={
          mayAudit ? "Changes, rejected attempts and events, newest first" : "Events only: the audit log needs the permission audit:read"
        }
      >
        <Button isDisabled={rows.length === 0} onPress={() => saveAs(toJsonLines(rows), "activity.jsonl", "application/x-ndjson")}>
          <Icon name="download" /> Export JSONL
        </Button>
      </PageHeading>
      <Toolbar label="Filter activity">
        <SearchField label="Search in all columns" value={search} onChange={setSearch} />
        <SelectField label="Who" value={who} onChange={setWho} choices={whoChoices(entries, who)} />
        <SelectField label="Action" value={action} onChange={setAction} choices={actionChoices} />
        {mayAudit && <SelectField label="Outcome" value={outcome} onChange={setOutcome} choices={outcomeChoices} />}
        {hasInstances && <SelectField label="Instance" value={instance} onChange={setInstance} choices={choicesOf(instances)} />}
        <span role="status">{phase !== "refused" && phases[phase]}</span>
      </Toolbar>
      {phase === "refused" && (
        <ErrorMessage title="The activity cannot be followed" error={error}>
          <Button onPress={retry}>Try again</Button>
        </ErrorMessage>
      )}
      <MissingInstances instance={instance} noun="entries" />
      {entries.length === 0 && phase === "connecting" && <LoadingRows noun="entrie" />}
      {rows.length === 0 && phase === "live" && (
        <EmptyState
          title={entries.length === 0 ? "No activity yet" : "No entry matches"}
          action={entries.length === 0 ? undefined : <Button onPress={clear}>Clear filters</Button>}
        >
          {entries.length === 0
            ? "Changes of apps, plugins and keys appear here as they happen."
            : `The filters hide ${entries.length.toLocaleString("en-GB")} entries.`}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <div className="activity-table">
          <DataTable caption="Activity" columns={columns} rows={rows} keyOf={({ key }) => key} />
        </div>
      )}
      {older.error !== undefined && <ErrorMessage title="Older entries could not be read" error={older.error} />}
      {hasOlder && (
        <div className="activity-older">
          <Button isPending={older.isPending} onPress={() => void older.run(loadOlder)}>
            Load older entries
          </Button>
        </div>
      )}
    </>
  );
}

const phases = {
  connecting: "Connecting…",
  live: <StateDot state="ok">Live</StateDot>,
  lost: <StateDot state="degraded">Connection lost; trying again</StateDot>,
};

function useActivity(mayAudit: boolean): ActivityState & { readonly loadOlder: () => Promise<void>; readonly retry: () => void } {
  const client = useApi(activityOperations);
  const [attempt, setAttempt] = useState(0);
  const [follower, setFollower] = useState<ActivityFollower>();
  useEffect(() => {
    const opened = new ActivityFollower(client, { mayAudit });
    setFollower(opened);
    return () => opened.close();
  }, [client, mayAudit, attempt]);
  const state = useObserved(follower?.state ?? before);
  return { ...state, loadOlder: async () => follower?.loadOlder(), retry: () => setAttempt(attempt + 1) };
}

/** Returns the names of all keys in the loaded entries, and the name in the URL, because no loaded entry might contain that name. */
function whoChoices(entries: readonly ActivityEntry[], chosen: string): { value: string; label: string }[] {
  const names = new Set(entries.flatMap((entry) => (entry.who === undefined ? [] : [entry.who])));
  if (chosen !== "") names.add(chosen);
  const sorted = [...names].toSorted((one, other) => one.localeCompare(other, "en-GB"));
  return choicesOf(sorted);
}

function choicesOf(names: readonly string[]): { value: string; label: string }[] {
  return [{ value: "", label: "all" }, ...names.map((name) => ({ value: name, label: name }))];
}

const actionNames = [...new Set([...auditActions, ...eventTypes])].filter((type) => nounOf(type) !== "stream");
const actionChoices = [
  { value: "", label: "all" },
  ...[...new Set(actionNames.map((type) => nounOf(type)))].flatMap((noun) => [
    { value: noun, label: `${noun}: all` },
    ...actionNames.filter((type) => nounOf(type) === noun).map((type) => ({ value: type, label: type })),
  ]),
];
const outcomeChoices = [{ value: "", label: "all" }, ...outcomes.map((value) => ({ value, label: value }))];
