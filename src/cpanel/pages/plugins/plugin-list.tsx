import { useState } from "react";
import { Button } from "../../components/button.js";
import { pluralize } from "../../components/pluralize.js";
import { ErrorMessage } from "../../components/error-message.js";
import { FilteredList } from "../../components/filtered-list.js";
import { PageHeading } from "../../components/page-heading.js";
import { EmptyState } from "../../components/empty-state.js";
import { pluginStates } from "../../../shared/contract/plugins.js";
import { useMay } from "../../session/use-principal.js";
import { UploadButtons } from "../../upload/upload-buttons.js";
import { DeletePlugin } from "./delete-plugin.js";
import { pluginColumns } from "./plugin-columns.js";
import type { PluginRow } from "./plugin-row.js";
import { reasonOf } from "./plugin-state.js";
import { reloading, usePluginActions } from "./use-plugin-actions.js";
import { usePlugins } from "./use-plugins.js";

export function PluginList() {
  const [mayInstall, mayRemove] = [useMay("plugins:install"), useMay("plugins:remove")];
  const { installed, rows, refresh } = usePlugins();
  const pluginActions = usePluginActions(refresh);
  const [deleting, setDeleting] = useState<PluginRow>();
  const { pending, toggle } = pluginActions;
  const columns = pluginColumns({ pluginActions: { pending, toggle }, mayInstall, mayRemove, onDelete: setDeleting });
  return (
    <>
      <PageHeading title="Plugins" {...(installed.data ? { note: noteOf(rows) } : {})}>
        {mayInstall && (
          <>
            <Button isPending={pending === reloading} onPress={() => void pluginActions.reload()}>
              {pending === reloading ? "Reloading…" : "Reload all"}
            </Button>
            <UploadButtons permission="plugins:install" />
          </>
        )}
      </PageHeading>
      {pluginActions.failure && <ErrorMessage {...pluginActions.failure} />}
      <FilteredList
        noun="plugin"
        title="Plugins"
        permission="plugins:read"
        resource={installed}
        rows={rows}
        columns={columns}
        keyOf={({ plugin }) => plugin.name}
        searchLabel="Search by name or reason"
        textOf={textOf}
        states={pluginStates}
        stateOf={({ plugin }) => plugin.health.state}
        empty={
          <EmptyState title="There is no plugin that this key may see">
            A plugin is a folder packed as .tgz or .zip. It runs inside the daemon: install only plugins that you trust as much as the
            daemon.
          </EmptyState>
        }
      />
      {deleting && <DeletePlugin row={deleting} onClose={() => setDeleting(undefined)} onDeleted={refresh} />}
    </>
  );
}

function noteOf(rows: readonly PluginRow[]): string {
  const failing = rows.filter(({ plugin }) => plugin.health.state === "failing").length;
  return pluralize(rows.length, "plugin") + (failing === 0 ? "" : `, ${failing} failing`);
}

function textOf({ plugin }: PluginRow): string {
  return `${plugin.name} ${reasonOf(plugin)}`;
}
