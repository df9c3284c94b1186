import type { Instance } from "../../../shared/contract/instances.js";
import { readyCount, runningVersions } from "../../../shared/instance-list.js";
import { DataTable } from "../../components/data-table.js";
import { EmptyState } from "../../components/empty-state.js";
import { ErrorMessage } from "../../components/error-message.js";
import { FilteredList } from "../../components/filtered-list.js";
import { PageHeading } from "../../components/page-heading.js";
import { pluralize } from "../../components/pluralize.js";
import { ResourceList } from "../../components/resource-list.js";
import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { instanceColumns } from "./instance-columns.js";
import { instanceStates } from "./instance-state.js";
import { useInstanceActions } from "./use-instance-actions.js";
import { useInstances, useMayDrain } from "./use-instances.js";

/** Polling interval of this page. A drained daemon reports its new state after its next synchronization, without an event. */
const intervalMs = 2000;
const none: readonly Instance[] = [];

/** Page with the daemons that have the same primary. */
export function Instances({ rest }: SectionProps) {
  const resource = useInstances({ intervalMs });
  const actions = useInstanceActions(resource.refresh);
  const mayDrain = useMayDrain();
  const all = resource.data ?? none;
  const columns = instanceColumns({ all, actions, mayDrain });
  if (rest.length > 0) return <NotFound />;
  const empty = <EmptyState title="No instance is listed" />;
  const list = { noun: "instance", permission: "workers:read", resource, rows: all, empty } as const;
  return (
    <>
      <PageHeading title="Instances" {...(resource.data ? { note: noteOf(all) } : {})} />
      {actions.error !== undefined && (
        <ErrorMessage title="The drain could not be ended" error={actions.error} onDismiss={actions.dismiss} />
      )}
      {all.length > 1 ? (
        <FilteredList
          {...list}
          title="Instances"
          columns={columns}
          keyOf={({ id }) => id}
          searchLabel="Search by name, version or problem"
          textOf={textOf}
          states={instanceStates}
          stateOf={({ state }) => state}
        />
      ) : (
        <ResourceList {...list} total={all.length} onClearFilters={() => undefined}>
          {(rows) => (
            <>
              <DataTable caption="Instances" columns={columns} rows={rows} keyOf={({ id }) => id} isStacked />
              <p className="quiet">
                This daemon has no others beside it. Daemons that share its keys through a primary (<code>RUNTIME_AUTH_DB_SYNC_URL</code>)
                appear here.
              </p>
            </>
          )}
        </ResourceList>
      )}
      {actions.dialog}
    </>
  );
}

/** Returns the number of ready daemons, and the versions if the daemons have different ones, as during a rolling upgrade. */
function noteOf(all: readonly Instance[]): string {
  const versions = runningVersions(all);
  const ready = `${readyCount(all)} of ${pluralize(all.length, "instance")} ready`;
  return versions.length > 1 ? `${ready} · ${versions.length} versions: ${versions.join(", ")}` : ready;
}

function textOf({ name, address, version, problem }: Instance): string {
  return [name, address, version, problem].join(" ");
}
