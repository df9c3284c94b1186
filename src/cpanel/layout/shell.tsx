import { useRef } from "react";
import icon from "../icon.svg";
import { useObserved } from "../live/use-observed.js";
import { RootKeyWarning } from "../session/root-key-warning.js";
import { SessionEnded } from "../session/session-ended.js";
import { SessionWarning } from "../session/session-warning.js";
import { SectionView } from "../pages/section-view.js";
import { AccessWarning } from "./access-warning.js";
import { Account } from "./account.js";
import { Navigation } from "./navigation.js";
import { ThemeSwitch } from "./theme-switch.js";
import { usePanel } from "../use-panel.js";
import "./shell.css";

/** Layout around every page: navigation, account, warnings and the content of the page. */
export function Shell() {
  const main = useRef<HTMLElement>(null);
  const { awaySinceMs } = useObserved(usePanel().connection.state);
  return (
    <div className="shell">
      <a
        href="#main"
        className="shell-skip"
        onClick={(event) => {
          // With the page's `<base>`, the browser would follow the link `#main` to another page.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <header className="shell-side">
        <p className="shell-name">
          <img src={icon} alt="" width="20" height="20" />
          runtimed
        </p>
        <Navigation />
        <div className="shell-foot">
          <ThemeSwitch />
          <Account />
        </div>
      </header>
      <div className="shell-body">
        <SessionWarning />
        <RootKeyWarning />
        <AccessWarning />
        <main ref={main} id="main" tabIndex={-1} className={awaySinceMs === undefined ? "shell-main" : "shell-main is-stale"}>
          <SectionView />
        </main>
      </div>
      <SessionEnded />
    </div>
  );
}
