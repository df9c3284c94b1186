import type { ReactNode } from "react";
import { OneOfList } from "../../components/one-of-list.js";
import { StateNote } from "../../components/state-note.js";
import { PanelLink } from "../../routing/panel-link.js";
import type { PluginRow } from "./plugin-row.js";
import type { Plugins } from "./use-plugins.js";

interface OnePluginProps {
  readonly name: string;
  readonly plugins: Pick<Plugins, "installed" | "rows">;
  readonly children: (row: PluginRow) => ReactNode;
}

/** What a page tells of one plugin, once it is known that it is there. */
export function OnePlugin({ name, plugins: { installed, rows }, children }: OnePluginProps) {
  return (
    <OneOfList
      noun="plugin"
      permission="plugins:read"
      resource={installed}
      one={rows.find(({ plugin }) => plugin.name === name)}
      empty={
        <StateNote title={`There is no plugin ${name}`}>
          It was deleted, or this key may not see it. <PanelLink to="plugins">All plugins</PanelLink>
        </StateNote>
      }
    >
      {children}
    </OneOfList>
  );
}
