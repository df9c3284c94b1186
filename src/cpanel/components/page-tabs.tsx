import { PanelLink } from "../router/panel-link.js";
import "./page-tabs.css";

export interface PageTab {
  /** Path of the page below the panel. */
  readonly to: string;
  readonly title: string;
  readonly isCurrent: boolean;
}

/** Links between the pages of one item, such as the overview and the logs of an app. */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly PageTab[] }) {
  return (
    <nav aria-label={label} className="page-tabs">
      {tabs.map(({ to, title, isCurrent }) => (
        <PanelLink key={to} to={to} {...(isCurrent ? { "aria-current": "page" } : {})}>
          {title}
        </PanelLink>
      ))}
    </nav>
  );
}
