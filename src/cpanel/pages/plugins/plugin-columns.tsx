import { pluginStates } from "../../../shared/contract/plugins.js";
import type { Column } from "../../components/data-table.js";
import { RowActions, type RowAction } from "../../components/row-actions.js";
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
      // Sorts by severity.
      sortBy: ({ plugin }) => pluginStates.indexOf(plugin.health.state),
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
    cell: (row) => {
      const { name, removable } = row.plugin;
      const ofRow: RowAction[] = [];
      if (mayInstall) ofRow.push(toggleOf(row, pluginActions));
      if (mayRemove && removable) ofRow.push({ title: "Delete", icon: "delete", isDanger: true, run: () => onDelete(row) });
      return <RowActions name={name} actions={ofRow} />;
    },
  };
  return [...columns, actions];
}

function toggleOf({ plugin }: PluginRow, { pending, toggle }: Pick<PluginActions, "pending" | "toggle">): RowAction {
  const title = plugin.enabled ? "Disable" : "Enable";
  return { title, icon: plugin.enabled ? "power" : "play", isPending: pending === plugin.name, run: () => void toggle(plugin) };
}

function Base({ row }: { row: PluginRow }) {
  const base = baseOf(row);
  if (base !== "") return <code>{base}</code>;
  return <span className="quiet">{row.loaded ? "hooks only" : "–"}</span>;
}

function baseOf({ loaded }: PluginRow): string {
  return loaded?.base ?? "";
}
