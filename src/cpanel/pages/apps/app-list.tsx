import { useDeferredValue, useMemo } from "react";
import { pluralize } from "../../components/pluralize.js";
import { DataTable } from "../../components/data-table.js";
import { PageHeading } from "../../components/page-heading.js";
import { ResourceList } from "../../components/resource-list.js";
import { SearchField } from "../../components/search-field.js";
import { SelectField } from "../../components/select-field.js";
import { EmptyState } from "../../components/empty-state.js";
import { Toolbar } from "../../components/toolbar.js";
import { useSearch } from "../../router/use-search.js";
import { usePrincipal } from "../../session/use-principal.js";
import { appColumns } from "./app-columns.js";
import { filterApps, namespaceChoices, sourceChoices, stateChoices } from "./app-filters.js";
import { UploadButtons } from "../../upload/upload-buttons.js";
import { useApps } from "./use-apps.js";
import { useAppMetrics } from "./use-app-metrics.js";

/** Lists the apps that the key is allowed to see. The filters are stored in the query of the page's URL. */
export function AppList() {
  const { resource, apps } = useApps();
  const metrics = useAppMetrics();
  const { namespaces } = usePrincipal();
  const [search, setSearch] = useSearch("search");
  const [namespace, setNamespace] = useSearch("namespace");
  const [state, setState] = useSearch("state");
  const [source, setSource] = useSearch("source");
  // Typing has priority over rendering thousands of rows.
  const wanted = useDeferredValue(search);
  const rows = useMemo(() => filterApps(apps, { search: wanted, namespace, state, source }), [apps, wanted, namespace, state, source]);
  const columns = useMemo(() => appColumns(metrics), [metrics]);
  const uploaded = apps.filter(({ isBuiltIn }) => !isBuiltIn).length;
  const total = source === "all" ? apps.length : uploaded;
  const choices = useMemo(() => namespaceChoices(apps), [apps]);
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
          <SearchField label="Search by name" value={search} onChange={setSearch} />
          {choices.length > 2 && <SelectField label="Namespace" value={namespace} onChange={setNamespace} choices={choices} />}
          <SelectField label="State" value={state} onChange={setState} choices={stateChoices} />
          <SelectField label="Show" value={source} onChange={setSource} choices={sourceChoices} />
        </Toolbar>
      )}
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
          <DataTable
            caption="Apps"
            columns={columns}
            rows={shown}
            keyOf={({ name }) => name}
            sortedBy={{ id: "name", isDescending: false }}
          />
        )}
      </ResourceList>
    </>
  );
}

function noteOf(count: number, namespaces: readonly string[]): string {
  return pluralize(count, "app") + (namespaces.includes("*") ? "" : `; this key sees ${namespaces.join(", ")} only`);
}
