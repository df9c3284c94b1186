import { PageHeading } from "../../components/page-heading.js";
import { ResourceList } from "../../components/resource-list.js";
import { StateNote } from "../../components/state-note.js";
import { LazyFileBrowser } from "../../file-browser/lazy-file-browser.js";
import { PanelLink } from "../../routing/panel-link.js";
import { detailOf, filesOf } from "./plugin-address.js";
import { usePlugins } from "./use-plugins.js";

/** The files of a plugin. */
export function PluginFiles({ name }: { name: string }) {
  const { installed, rows } = usePlugins();
  const row = rows.find(({ plugin }) => plugin.name === name);
  return (
    <>
      <PageHeading title={`Files of ${name}`} note={<PanelLink to={detailOf(name)}>{name}</PanelLink>} />
      <ResourceList
        noun="plugin"
        permission="plugins:read"
        resource={installed}
        total={row ? 1 : 0}
        rows={row ? [row] : []}
        onClearFilters={() => undefined}
        empty={
          <StateNote title={`There is no plugin ${name}`}>
            It was deleted, or this key may not see it. <PanelLink to="plugins">All plugins</PanelLink>
          </StateNote>
        }
      >
        {(shown) =>
          shown.map(({ plugin }) => (
            <LazyFileBrowser
              key={plugin.name}
              of={{ kind: "plugins", name, isBuiltIn: plugin.source === "built-in", page: filesOf(name) }}
            />
          ))
        }
      </ResourceList>
    </>
  );
}
