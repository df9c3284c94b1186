import { Button } from "../../components/button.js";
import type { Column } from "../../components/data-table.js";
import { PanelLink } from "../../router/panel-link.js";
import { detailOf } from "./plugin-address.js";
import type { PluginRow } from "./plugin-row.js";
import { PluginState, reasonOf } from "./plugin-state.js";
import type { PluginActions } from "./use-plugin-actions.js";
import "./plugins.css";

interface PluginColumnsOptions {
  readonly pluginActions: Pick<PluginActions, "pending" | "toggle">;
  readonly mayInstall: boolean;
  readonly mayRemove: boolean;
  readonly onDelete: (row: PluginRow) => void;
}

export function pluginColumns({ pluginActions, mayInstall, mayRemove, onDelete }: PluginColumnsOptions): readonly Column<PluginRow>[] {
  const columns: Column<PluginRow>[] = [
    {
      id: "name",
      title: "Name",
      sortBy: ({ plugin }) => plugin.name,
      cell: ({ plugin }) => (
        <>
          <PanelLink to={detailOf(plugin.name)} className="plugin-name">
            {plugin.name}
          </PanelLink>
          <span className="quiet small">{plugin.version}</span>
        </>
      ),
    },
    {
      id: "state",
      title: "State",
      sortBy: ({ plugin }) => plugin.status,
      cell: ({ plugin }) => (
        <>
          <PluginState plugin={plugin} /> <span className="plugin-reason quiet small">{reasonOf(plugin)}</span>
        </>
      ),
    },
    { id: "base", title: "Served at", shownFrom: "wide", sortBy: baseOf, cell: (row) => <Base row={row} /> },
    { id: "source", title: "Source", shownFrom: "widest", sortBy: ({ plugin }) => plugin.source, cell: ({ plugin }) => plugin.source },
  ];
  if (!mayInstall && !mayRemove) return columns;
  const actions: Column<PluginRow> = {
    id: "actions",
    title: "Actions",
    isActions: true,
    cell: (row) => (
      <span className="row-actions">
        {mayInstall && <Toggle row={row} pluginActions={pluginActions} />}
        {mayRemove && row.plugin.removable && (
          <Button kind="bare" aria-label={`Delete ${row.plugin.name}`} onPress={() => onDelete(row)}>
            Delete
          </Button>
        )}
      </span>
    ),
  };
  return [...columns, actions];
}

function Toggle({ row: { plugin }, pluginActions }: { row: PluginRow; pluginActions: Pick<PluginActions, "pending" | "toggle"> }) {
  const verb = plugin.enabled ? "Disable" : "Enable";
  return (
    <Button
      kind="bare"
      aria-label={`${verb} ${plugin.name}`}
      isPending={pluginActions.pending === plugin.name}
      onPress={() => void pluginActions.toggle(plugin)}
    >
      {verb}
    </Button>
  );
}

function Base({ row }: { row: PluginRow }) {
  const base = baseOf(row);
  if (base !== "") return <code>{base}</code>;
  return <span className="quiet">{row.loaded ? "hooks only" : "–"}</span>;
}

function baseOf({ loaded }: PluginRow): string {
  return loaded?.base ?? "";
}
