import type { ReactNode } from "react";
import { ResourceDetail } from "../../components/resource-detail.js";
import { EmptyState } from "../../components/empty-state.js";
import { PanelLink } from "../../router/panel-link.js";
import type { PluginRow } from "./plugin-row.js";
import type { Plugins } from "./use-plugins.js";

interface OnePluginProps {
  readonly name: string;
  readonly plugins: Pick<Plugins, "installed" | "rows">;
  readonly children: (row: PluginRow) => ReactNode;
}

/** Shows one plugin. Without the plugin, shows the state of the list of plugins, such as loading, failed or empty. */
export function OnePlugin({ name, plugins: { installed, rows }, children }: OnePluginProps) {
  return (
    <ResourceDetail
      noun="plugin"
      permission="plugins:read"
      resource={installed}
      one={rows.find(({ plugin }) => plugin.name === name)}
      empty={
        <EmptyState title={`There is no plugin ${name}`}>
          It was deleted, or this key has no access to it. <PanelLink to="plugins">All plugins</PanelLink>
        </EmptyState>
      }
    >
      {children}
    </ResourceDetail>
  );
}
