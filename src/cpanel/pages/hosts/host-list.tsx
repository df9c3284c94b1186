import { useState } from "react";
import { DataTable, type Column } from "../../components/data-table.js";
import { EmptyState } from "../../components/empty-state.js";
import { ErrorMessage } from "../../components/error-message.js";
import { FilteredList } from "../../components/filtered-list.js";
import { ResourceList } from "../../components/resource-list.js";
import { RowActions } from "../../components/row-actions.js";
import { useMutation } from "../../components/use-mutation.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { hostOperations } from "./host-operations.js";
import { toHostRows, type HostRow } from "../../../shared/host-rows.js";
import { RemoveHost } from "./remove-host.js";

const columns: readonly Column<HostRow>[] = [
  { id: "name", title: "Host", sortBy: ({ host }) => host, cell: ({ host }) => host },
  { id: "worker", title: "App", sortBy: ({ worker }) => worker, cell: ({ worker }) => worker },
  { id: "version", title: "Version", shownFrom: "wide", cell: ({ version }) => version ?? "active" },
  { id: "state", title: "State", sortBy: ({ state }) => state, cell: ({ state }) => state },
  { id: "by", title: "Added by", shownFrom: "wide", cell: ({ by }) => by ?? "–" },
];

interface HostListProps {
  /** Name of the only worker whose hosts are listed. If undefined, the table lists the hosts of all workers and has filters. */
  readonly worker?: string;
}

/** Table with host names of workers. Adds host names that manifests request, and removes added host names. */
export function HostList({ worker: only }: HostListProps) {
  const api = useApi(hostOperations);
  const { toasts } = usePanel();
  const resource = useResource("hosts", () => api.hosts.list(), { isWanted: useMay("workers:read") });
  const mayInstall = useMay("workers:install");
  const adding = useMutation();
  const [tried, setTried] = useState("");
  const [removed, setRemoved] = useState<HostRow>();
  const add = async ({ host, worker }: HostRow) => {
    setTried(host);
    const isAdded = await adding.run(async () => void (await api.hosts.add({ params: { host }, body: { worker } })));
    if (isAdded) toasts.say(`${host} leads to ${worker}.`);
    await resource.refresh();
  };
  const actions: Column<HostRow> = {
    id: "actions",
    title: "Actions",
    isActions: true,
    cell: (row) => (
      <RowActions
        name={row.host}
        actions={[
          row.state === "requested"
            ? { title: "Add", icon: "add", isPending: adding.isPending && tried === row.host, run: () => void add(row) }
            : { title: "Remove", icon: "delete", isDanger: true, run: () => setRemoved(row) },
        ]}
      />
    ),
  };
  const all = toHostRows(resource.data ?? { hosts: [], requested: [] });
  const rows = only === undefined ? all : all.filter(({ worker }) => worker === only);
  const shownColumns = mayInstall ? [...columns, actions] : columns;
  const list = {
    noun: "host",
    permission: "workers:read",
    resource,
    empty: (
      <EmptyState title="No host names yet">
        Add one here, or with <code>runtimectl hosts add shop.example.org {only ?? "shop"}</code>. Host names that manifests request appear
        here, too.
      </EmptyState>
    ),
  } as const;
  return (
    <>
      {adding.error !== undefined && <ErrorMessage title={`${tried} could not be added`} error={adding.error} onDismiss={adding.dismiss} />}
      {only === undefined ? (
        <FilteredList
          {...list}
          rows={rows}
          columns={shownColumns}
          title="Hosts"
          keyOf={keyOf}
          searchLabel="Search by host or app"
          textOf={({ host, worker }) => `${host} ${worker}`}
          states={["added", "requested"]}
          stateOf={({ state }) => state}
        />
      ) : (
        <ResourceList {...list} total={rows.length} rows={rows} onClearFilters={() => undefined}>
          {(shown) => (
            <DataTable caption="Hosts" columns={shownColumns.filter(({ id }) => id !== "worker")} rows={shown} keyOf={keyOf} isStacked />
          )}
        </ResourceList>
      )}
      {removed && <RemoveHost row={removed} onClose={() => setRemoved(undefined)} onRemoved={resource.refresh} />}
    </>
  );
}

function keyOf({ host, worker, state }: HostRow): string {
  return `${state} ${host} ${worker}`;
}
