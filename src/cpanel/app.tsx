import { I18nProvider } from "react-aria-components/I18nProvider";
import { ToastRegion } from "./components/toast-region.js";
import { useObserved } from "./live/use-observed.js";
import type { Panel } from "./panel.js";
import { SignInPage } from "./session/sign-in-page.js";
import { ConnectionBanner } from "./layout/connection-banner.js";
import { LoadingPage } from "./layout/loading-page.js";
import { Shell } from "./layout/shell.js";
import { PanelContext } from "./use-panel.js";

/** Renders the sign-in page if no session exists, otherwise the shell with the requested page. */
export function App({ panel }: { panel: Panel }) {
  const { phase } = useObserved(panel.session.state);
  return (
    <PanelContext value={panel}>
      <I18nProvider locale="en-GB">
        <ConnectionBanner />
        {phase === "looking" ? <LoadingPage /> : phase === "signed-out" ? <SignInPage /> : <Shell />}
        <ToastRegion />
      </I18nProvider>
    </PanelContext>
  );
}
