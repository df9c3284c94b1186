import type { LoadedPlugin } from "../../../shared/contract/plugins.js";
import { Fact, Facts } from "../../components/facts.js";
import { PanelLink } from "../../router/panel-link.js";
import { detailOf } from "./plugin-address.js";
import { PluginMenuLink } from "./plugin-menu-link.js";
import type { PluginRow } from "./plugin-row.js";

interface PluginWorkProps {
  readonly row: PluginRow;
  readonly loaded: LoadedPlugin;
  readonly rows: readonly PluginRow[];
}

/** Shows the paths that a loaded plugin serves, and the plugins that it depends on. */
export function PluginWork({ row, loaded, rows }: PluginWorkProps) {
  const { base, dependencies, optionalDependencies, menus } = loaded;
  const loadedCount = rows.filter((other) => other.loaded).length;
  return (
    <Facts label="Loaded">
      <Fact name="Served at">{base === "" ? "nowhere: it has only hooks" : <code>{base}</code>}</Fact>
      <Fact name="Hooks">
        {row.position} of {loadedCount} in order
      </Fact>
      <Fact name="Needs">
        {dependencies.length + optionalDependencies.length === 0 && "no other plugin"}
        <Names names={dependencies} rows={rows} />
        <Names names={optionalDependencies} rows={rows} suffix="if it is installed" />
      </Fact>
      {row.neededBy.length > 0 && (
        <Fact name="Needed by">
          <Names names={row.neededBy} rows={rows} />
        </Fact>
      )}
      {menus.length > 0 && (
        <Fact name="Pages">
          <ul>
            {menus.map((menu) => (
              <li key={`${menu.title} ${menu.path}`}>
                <PluginMenuLink plugin={loaded} menu={menu} /> <code className="quiet">{menu.path}</code>
              </li>
            ))}
          </ul>
        </Fact>
      )}
    </Facts>
  );
}

function Names({ names, rows, suffix }: { names: readonly string[]; rows: readonly PluginRow[]; suffix?: string }) {
  return names.map((name) => {
    const state = rows.find(({ plugin }) => plugin.name === name)?.plugin.health.state ?? "not installed";
    return (
      <div key={name}>
        <PanelLink to={detailOf(name)}>{name}</PanelLink>{" "}
        <span className="quiet">
          {state}
          {suffix !== undefined && `, ${suffix}`}
        </span>
      </div>
    );
  });
}
