import { useEffect, useRef } from "react";
import { PanelLink } from "../router/panel-link.js";
import "./page-tabs.css";

export interface PageTab {
  /** Path of the linked page, relative to the panel's base path. */
  readonly to: string;
  readonly title: string;
  readonly isCurrent: boolean;
}

/** Links to the pages of one app or plugin, such as the overview and the logs. */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly PageTab[] }) {
  const list = useRef<HTMLElement>(null);
  const current = tabs.find(({ isCurrent }) => isCurrent)?.to;
  // On a narrow screen, the list of tabs scrolls. `scrollIntoView` would also move the start of the Tab order to the current tab.
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>('[aria-current="page"]');
    if (list.current && tab) list.current.scrollLeft = tab.offsetLeft + tab.offsetWidth - list.current.clientWidth;
  }, [current]);
  return (
    <nav ref={list} aria-label={label} className="page-tabs">
      {tabs.map(({ to, title, isCurrent }) => (
        <PanelLink key={to} to={to} {...(isCurrent ? { "aria-current": "page" } : {})}>
          {title}
        </PanelLink>
      ))}
    </nav>
  );
}
