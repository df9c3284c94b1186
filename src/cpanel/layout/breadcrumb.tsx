import { Icon } from "../components/icon.js";
import { sections } from "../pages/sections.js";
import { PanelLink } from "../router/panel-link.js";
import { useRoute } from "../router/use-route.js";

interface Crumb {
  readonly title: string;
  readonly to: string;
}

/** Shows where the user is in the panel: the section, the item (such as an app), and the tab of the item. */
export function Breadcrumb() {
  const crumbs = crumbsOf(useRoute().segments);
  return (
    <nav aria-label="Breadcrumb" className="breadcrumb">
      <ol>
        {crumbs.map(({ title, to }, index) => (
          <li key={to}>
            {index > 0 && <Icon name="chevron-right" size={14} />}
            {index === crumbs.length - 1 ? (
              <span aria-current="page" title={title}>
                {title}
              </span>
            ) : (
              <PanelLink to={to} title={title}>
                {title}
              </PanelLink>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Returns the parts of a path, outermost first. A namespace and the name after it form one part, such as `@team/shop`. */
export function crumbsOf(segments: readonly string[]): readonly Crumb[] {
  const [first = "", ...rest] = segments;
  const section = sections.find(({ path }) => path === first);
  if (!section) return [{ title: "Page not found", to: segments.join("/") }];
  const crumbs: Crumb[] = [{ title: section.title, to: first }];
  const isScoped = rest[0]?.startsWith("@") === true && rest.length > 1;
  const parts = isScoped ? [`${rest[0]}/${rest[1]}`, ...rest.slice(2)] : rest;
  for (const [index, part] of parts.entries()) {
    const title = index === 0 ? part : part.charAt(0).toUpperCase() + part.slice(1);
    crumbs.push({ title, to: [first, ...parts.slice(0, index + 1)].join("/") });
  }
  return crumbs;
}
