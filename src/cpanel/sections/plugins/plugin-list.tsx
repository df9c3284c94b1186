import { useMemo, useState } from "react";
import { Button } from "../../components/button.js";
import { counted } from "../../components/counted.js";
import { DataTable } from "../../components/data-table.js";
import { ErrorNote } from "../../components/error-note.js";
import { PageHeading } from "../../components/page-heading.js";
import { ResourceList } from "../../components/resource-list.js";
import { SearchField } from "../../components/search-field.js";
import { SelectField } from "../../components/select-field.js";
import { StateNote } from "../../components/state-note.js";
import { Toolbar } from "../../components/toolbar.js";
import { pluginStatuses } from "../../../shared/contract/plugins.js";
import { useSearch } from "../../routing/use-search.js";
import { useMay } from "../../session/use-principal.js";
import { DeletePlugin } from "./delete-plugin.js";
import { pluginColumns } from "./plugin-columns.js";
import type { PluginRow } from "./plugin-row.js";
import { reasonOf } from "./plugin-state.js";
import { UploadPlugin } from "./upload-plugin.js";
import { reloading, usePluginDeeds } from "./use-plugin-deeds.js";
import { usePlugins } from "./use-plugins.js";

const states = [{ value: "", label: "all" }, ...pluginStatuses.map((status) => ({ value: status, label: status }))];

export function PluginList() {
  const [mayInstall, mayRemove] = [useMay("plugins:install"), useMay("plugins:remove")];
  const { installed, rows, refresh } = usePlugins();
  const deeds = usePluginDeeds(refresh);
  const [search, setSearch] = useSearch("search");
  const [state, setState] = useSearch("state");
  const [doomed, setDoomed] = useState<PluginRow>();
  const { pending, toggle } = deeds;
  const columns = pluginColumns({ deeds: { pending, toggle }, mayInstall, mayRemove, onDelete: setDoomed });
  const shownRows = useMemo(() => rows.filter((row) => matches(row, search, state)), [rows, search, state]);
  return (
    <>
      <PageHeading title="Plugins" {...(installed.data ? { note: noteOf(rows) } : {})}>
        {mayInstall && (
          <>
            <Button isPending={pending === reloading} onPress={() => void deeds.reload()}>
              {pending === reloading ? "Reloading…" : "Reload all"}
            </Button>
            <UploadPlugin onUploaded={refresh} />
          </>
        )}
      </PageHeading>
      {deeds.failure && <ErrorNote {...deeds.failure} />}
      {rows.length > 0 && (
        <Toolbar label="Filter plugins">
          <SearchField label="Search by name or reason" value={search} onChange={setSearch} />
          <SelectField label="State" value={state} onChange={setState} choices={states} />
        </Toolbar>
      )}
      <ResourceList
        noun="plugin"
        permission="plugins:read"
        resource={installed}
        total={rows.length}
        rows={shownRows}
        onClearFilters={() => {
          setSearch("");
          setState("");
        }}
        empty={
          <StateNote title="There is no plugin that this key may see">
            A plugin is a folder packed as .tgz or .zip. It runs inside the daemon: install only what you trust as you trust the daemon.
          </StateNote>
        }
      >
        {(shown) => (
          <DataTable
            caption="Plugins"
            columns={columns}
            rows={shown}
            keyOf={({ plugin }) => plugin.name}
            sortedBy={{ id: "name", isDescending: false }}
          />
        )}
      </ResourceList>
      {doomed && <DeletePlugin row={doomed} onClose={() => setDoomed(undefined)} onDeleted={refresh} />}
    </>
  );
}

function noteOf(rows: readonly PluginRow[]): string {
  return `${counted(rows.length, "plugin")}, ${rows.filter(({ loaded }) => loaded).length} at work`;
}

function matches({ plugin }: PluginRow, search: string, state: string): boolean {
  const wanted = search.trim().toLowerCase();
  return (state === "" || plugin.status === state) && `${plugin.name} ${reasonOf(plugin)}`.toLowerCase().includes(wanted);
}
