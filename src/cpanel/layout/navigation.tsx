import { lazy, Suspense, useEffect, useRef, type ComponentType } from "react";
import { PanelLink } from "../router/panel-link.js";
import { useRoute } from "../router/use-route.js";
import { sections } from "../pages/sections.js";
import "./navigation.css";

/**
 * Menu entries of plugins. Their code is loaded separately, because the first screen does not show them. If the code cannot be loaded, no
 * entries appear; the Plugins page reports the failure.
 */
const PluginMenus = lazy(async () => ({ default: await loadPluginMenus().catch(() => Nothing) }));

export function Navigation() {
  const { segments, search } = useRoute();
  // Marks no section on a page of a plugin's menu, because the plugin menus below mark that page.
  const current = search.has("at") ? undefined : segments[0];
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => showCurrent(list.current), [current]);
  return (
    <>
      <nav aria-label="Sections" className="navigation">
        <ul ref={list}>
          {sections.map(({ path, title }) => (
            <li key={path}>
              <PanelLink to={path} className="navigation-link" {...(path === current ? { "aria-current": "page" } : {})}>
                {title}
              </PanelLink>
            </li>
          ))}
        </ul>
      </nav>
      <Suspense>
        <PluginMenus />
      </Suspense>
    </>
  );
}

/** Scrolls the current entry into view on a narrow screen, where the entries are in one row. Leaves the page where it is. */
function showCurrent(list: HTMLUListElement | null): void {
  const link = list?.querySelector<HTMLElement>("[aria-current]");
  if (list && link) list.scrollLeft = link.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
}

async function loadPluginMenus(): Promise<ComponentType> {
  return (await import("../pages/plugins/plugin-menus.js")).PluginMenus;
}

function Nothing() {
  return null;
}
