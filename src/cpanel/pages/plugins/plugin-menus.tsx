import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { useRoute } from "../../router/use-route.js";
import { useMay } from "../../session/use-principal.js";
import { nameIn } from "./plugin-address.js";
import { PluginMenuLink } from "./plugin-menu-link.js";
import { pluginOperations } from "./plugin-operations.js";

/**
 * Polling interval of the plugin menus. The interval is long, because menus change only with the plugins, and the panel requests them after
 * its own changes.
 */
const intervalMs = 30_000;

/** Shows the menu entries of loaded plugins in the navigation. */
export function PluginMenus() {
  const api = useApi(pluginOperations);
  const { data = [] } = useResource("plugins.loaded", () => api.plugins.loaded(), { isWanted: useMay("plugins:read"), intervalMs });
  const { segments, search } = useRoute();
  const isAt = (name: string, path: string) => segments[0] === "plugins" && nameIn(segments.slice(1)) === name && search.get("at") === path;
  if (data.every(({ menus }) => menus.length === 0)) return null;
  return (
    <nav aria-label="Pages of plugins" className="navigation navigation-plugins">
      <p className="navigation-title small" aria-hidden="true">
        Pages of plugins
      </p>
      <ul>
        {data.flatMap((plugin) =>
          plugin.menus.map((menu) => (
            <li key={`${plugin.name} ${menu.title} ${menu.path}`}>
              <PluginMenuLink plugin={plugin} menu={menu} className="navigation-link" hasIcon isCurrent={isAt(plugin.name, menu.path)} />
            </li>
          )),
        )}
      </ul>
    </nav>
  );
}
