import { lazy, Suspense, useId, useState, type ComponentType } from "react";
import { Icon } from "../components/icon.js";
import { sectionsFor, type Section } from "../pages/sections.js";
import { useObserved } from "../live/use-observed.js";
import { PanelLink } from "../router/panel-link.js";
import { useRoute } from "../router/use-route.js";
import { usePrincipal } from "../session/use-principal.js";
import { usePanel } from "../use-panel.js";
import { useFailingCounts, type FailingCounts } from "./use-failing-counts.js";
import { MoreSheet } from "./more-sheet.js";
import "./navigation.css";

/** Number of sections in the bottom bar of a narrow screen. The sheet behind `More` contains the rest. */
const inBottomBar = 4;

/**
 * Menu entries of plugins. Their code is loaded separately, because the first screen does not show them. If the code cannot be loaded, no
 * entries appear; the Plugins page reports the failure.
 */
const PluginMenus = lazy(async () => ({ default: await loadPluginMenus().catch(() => Nothing) }));

/**
 * The navigation of the panel, with its sections and the pages of plugins. On a narrow screen it is a bar at the bottom, otherwise a rail
 * at the left.
 */
export function Navigation() {
  const [isMoreOpen, setMoreOpen] = useState(false);
  const { permissions } = usePrincipal();
  const shown = sectionsFor(permissions);
  const rest = shown.slice(inBottomBar);
  const current = useCurrentSection();
  const counts = useFailingCounts();
  const restCount = rest.reduce((sum, { path }) => sum + (counts[path] ?? 0), 0);
  const restCountId = useId();
  return (
    <>
      <nav aria-label="Sections" className="navigation">
        <ul>
          {shown.map((section, index) => (
            <li key={section.path} className={index < inBottomBar ? undefined : "navigation-rest"}>
              <SectionLink section={section} isCurrent={section.path === current} counts={counts} />
            </li>
          ))}
          <li className="navigation-more">
            <button
              type="button"
              className={`navigation-link${rest.some(({ path }) => path === current) ? " navigation-link-within" : ""}`}
              aria-haspopup="dialog"
              {...(restCount > 0 ? { "aria-describedby": restCountId } : {})}
              onClick={() => setMoreOpen(true)}
            >
              <Icon name="more" />
              <span className="navigation-text">More</span>
            </button>
            <FailingCount id={restCountId} count={restCount} />
          </li>
        </ul>
      </nav>
      <Suspense>
        <PluginMenus />
      </Suspense>
      {isMoreOpen && (
        <MoreSheet onClose={() => setMoreOpen(false)}>
          <nav aria-label="More sections" className="navigation">
            <ul>
              {rest.map((section) => (
                <li key={section.path}>
                  <SectionLink section={section} isCurrent={section.path === current} counts={counts} />
                </li>
              ))}
            </ul>
          </nav>
          <Suspense>
            <PluginMenus />
          </Suspense>
        </MoreSheet>
      )}
    </>
  );
}

interface SectionLinkProps {
  readonly section: Section;
  readonly isCurrent: boolean;
  readonly counts: FailingCounts;
}

function SectionLink({ section: { path, title, icon }, isCurrent, counts }: SectionLinkProps) {
  const id = useId();
  const count = counts[path] ?? 0;
  const isCollapsed = useObserved(usePanel().rail.isCollapsed);
  return (
    <span className="navigation-entry">
      <PanelLink
        to={path}
        className="navigation-link"
        {...(isCollapsed ? { title } : {})}
        {...(isCurrent ? { "aria-current": "page" } : {})}
        {...(count > 0 ? { "aria-describedby": id } : {})}
      >
        <Icon name={icon} />
        <span className="navigation-text">{title}</span>
      </PanelLink>
      <FailingCount id={id} count={count} />
    </span>
  );
}

/** Shows the number of failing apps or plugins, or of unreachable daemons, beside a navigation entry. Shows nothing if the number is 0. */
function FailingCount({ id, count }: { id: string; count: number }) {
  if (count === 0) return null;
  return (
    <span className="navigation-count" id={id}>
      {count.toLocaleString("en-GB")}
      <span className="visually-hidden"> failing</span>
    </span>
  );
}

/**
 * Returns the path of the current section. Returns undefined on a page of a plugin, because the navigation has a separate entry for this
 * page.
 */
function useCurrentSection(): string | undefined {
  const { segments, search } = useRoute();
  return search.has("at") ? undefined : segments[0];
}

async function loadPluginMenus(): Promise<ComponentType> {
  return (await import("../pages/plugins/plugin-menus.js")).PluginMenus;
}

function Nothing() {
  return null;
}
