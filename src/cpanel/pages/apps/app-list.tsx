import { useDeferredValue, useMemo } from "react";
import { DataTable } from "../../components/data-table.js";
import { EmptyState } from "../../components/empty-state.js";
import { ErrorMessage } from "../../components/error-message.js";
import { PageHeading } from "../../components/page-heading.js";
import { pluralize } from "../../components/pluralize.js";
import { ResourceList } from "../../components/resource-list.js";
import { SearchField } from "../../components/search-field.js";
import { Segments } from "../../components/segments.js";
import { SelectField } from "../../components/select-field.js";
import { Toolbar } from "../../components/toolbar.js";
import { useServedAt } from "../../live/use-served-at.js";
import { useSearch } from "../../router/use-search.js";
import { useMay, usePrincipal } from "../../session/use-principal.js";
import { UploadButtons } from "../../upload/upload-buttons.js";
import { useSparklines } from "../overview/use-metrics-history.js";
import { appColumns } from "./app-columns.js";
import { filterApps, namespaceChoices, segmentNames, segmentOf, sourceChoices } from "./app-filters.js";
import { useAppActions } from "./use-app-actions.js";
import { useAppHealth } from "./use-app-health.js";
import { useAppMetrics } from "./use-app-metrics.js";
import { useApps } from "./use-apps.js";

/** Height of a row, as in apps.css. */
const rowHeightPx = 40;
const segmentTitles = { "": "All", failing: "Failing", serving: "Serving", disabled: "Disabled" } as const;

/** Lists the apps that the key is allowed to see, failing apps first. The filters are stored in the query of the page's URL. */
export function AppList() {
  const { resource, apps } = useApps();
  const { byName: health } = useAppHealth();
  const metrics = useAppMetrics();
  const { data: sparklineList } = useSparklines();
  const sparklines = useMemo(() => new Map(sparklineList?.map((one) => [one.name, one])), [sparklineList]);
  const servedAt = useServedAt();
  const { namespaces } = usePrincipal();
  const actions = useAppActions(resource.refresh);
  const [change, restart] = [useMay("workers:install"), useMay("workers:restart")];
  const [search, setSearch] = useSearch("search");
  const [namespace, setNamespace] = useSearch("namespace");
  const [state, setState] = useSearch("state");
  const [source, setSource] = useSearch("source");
  // Defers the filtering, so that typing stays fast while React renders thousands of rows.
  const wanted = useDeferredValue(search);
  const inGroup = useMemo(() => filterApps(apps, { search: wanted, namespace, state: "", source }), [apps, wanted, namespace, source]);
  const rows = useMemo(
    () => (state === "" ? inGroup : inGroup.filter((app) => segmentOf(app, health) === state)),
    [inGroup, state, health],
  );
  const columns = useMemo(
    () => appColumns({ health, metrics, sparklines, servedAt, actions, may: { change, restart } }),
    [health, metrics, sparklines, servedAt, actions, change, restart],
  );
  const uploaded = apps.filter(({ isBuiltIn }) => !isBuiltIn).length;
  const total = source === "all" ? apps.length : uploaded;
  const choices = useMemo(() => namespaceChoices(apps), [apps]);
  const failing = useMemo(() => inGroup.filter((app) => segmentOf(app, health) === "failing").length, [inGroup, health]);
  const segments = segmentNames.map((value) => ({
    value,
    title: value === "failing" && failing > 0 ? `${segmentTitles.failing} ${failing.toLocaleString("en-GB")}` : segmentTitles[value],
  }));
  const clear = () => {
    for (const set of [setSearch, setNamespace, setState, setSource]) set("");
  };
  return (
    <>
      <PageHeading title="Apps" {...(resource.data ? { note: noteOf(uploaded, namespaces) } : {})}>
        <UploadButtons permission="workers:install" />
      </PageHeading>
      {apps.length > 0 && (
        <Toolbar label="Filter apps">
          <Segments label="State" segments={segments} value={state} onChange={setState} />
          <SearchField label="Search by name" value={search} onChange={setSearch} />
          {choices.length > 2 && <SelectField label="Namespace" value={namespace} onChange={setNamespace} choices={choices} />}
          <SelectField label="Show" value={source} onChange={setSource} choices={sourceChoices} />
        </Toolbar>
      )}
      {actions.error !== undefined && <ErrorMessage title="The change failed" error={actions.error} onDismiss={actions.dismiss} />}
      <ResourceList
        noun="app"
        permission="workers:read"
        resource={resource}
        total={total}
        rows={rows}
        onClearFilters={clear}
        empty={
          <EmptyState title="No app is installed" action={<UploadButtons permission="workers:install" />}>
            Drop a folder or an archive here: an HTML page, or a module with <code>fetch</code>. Or from a terminal:{" "}
            <code>runtimectl workers upload ./dir</code>
          </EmptyState>
        }
      >
        {(shown) => (
          <div className="app-table">
            <DataTable
              caption="Apps"
              columns={columns}
              rows={shown}
              keyOf={({ name }) => name}
              sortedBy={{ id: "state", isDescending: false }}
              rowHeightPx={rowHeightPx}
              isStacked
            />
          </div>
        )}
      </ResourceList>
      {actions.dialog}
    </>
  );
}

function noteOf(count: number, namespaces: readonly string[]): string {
  return pluralize(count, "app") + (namespaces.includes("*") ? "" : `; this key sees ${namespaces.join(", ")} only`);
}
