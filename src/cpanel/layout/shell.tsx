import { useRef } from "react";
import icon from "../icon.svg";
import { Icon } from "../components/icon.js";
import { useObserved } from "../live/use-observed.js";
import { RootKeyWarning } from "../session/root-key-warning.js";
import { SessionEnded } from "../session/session-ended.js";
import { SessionWarning } from "../session/session-warning.js";
import { SectionView } from "../pages/section-view.js";
import { usePanel } from "../use-panel.js";
import { AccessWarning } from "./access-warning.js";
import { DropAnywhere } from "./drop-anywhere.js";
import { Navigation } from "./navigation.js";
import { TopBar } from "./top-bar.js";
import "./shell.css";

/** Layout around every page: navigation, top bar, warnings and the content of the page. */
export function Shell() {
  const main = useRef<HTMLElement>(null);
  const { connection, rail } = usePanel();
  const { awaySinceMs } = useObserved(connection.state);
  const isCollapsed = useObserved(rail.isCollapsed);
  return (
    <div className={isCollapsed ? "shell rail-collapsed" : "shell"}>
      <a
        href="#main"
        className="shell-skip"
        onClick={(event) => {
          // The link cannot be a plain `#main`. Because the page has a `<base>`, the browser would open another page.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <header className="shell-rail">
        <p className="shell-name">
          <img src={icon} alt="" width="20" height="20" />
          <span className="shell-name-text">runtimed</span>
        </p>
        <Navigation />
        <button
          type="button"
          className="navigation-link shell-collapse"
          aria-label="Collapse navigation"
          aria-pressed={isCollapsed}
          onClick={() => rail.toggle()}
        >
          <Icon name="rail" />
          <span className="navigation-text">Collapse</span>
        </button>
      </header>
      <div className="shell-body">
        <TopBar />
        <SessionWarning />
        <RootKeyWarning />
        <AccessWarning />
        <main ref={main} id="main" tabIndex={-1} className={awaySinceMs === undefined ? "shell-main" : "shell-main is-stale"}>
          <SectionView />
        </main>
      </div>
      <DropAnywhere />
      <SessionEnded />
    </div>
  );
}
