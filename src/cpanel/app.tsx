import { lazy, Suspense, useEffect } from "react";
import { I18nProvider } from "react-aria-components/I18nProvider";
import { ToastRegion } from "./components/toast-region.js";
import { useObserved } from "./live/use-observed.js";
import type { Panel } from "./panel.js";
import { SectionBoundary } from "./pages/section-boundary.js";
import { SignInPage } from "./session/sign-in-page.js";
import { ConnectionBanner } from "./layout/connection-banner.js";
import { LoadingPage } from "./layout/loading-page.js";
import { PanelContext } from "./use-panel.js";

/** All pages behind the sign-in. Their code is loaded separately, so that the browser shows the sign-in page without waiting for it. */
const Shell = lazy(async () => ({ default: (await loadShell()).Shell }));

/** Renders the sign-in page if no session exists, otherwise the shell with the requested page. */
export function App({ panel }: { panel: Panel }) {
  const { phase } = useObserved(panel.session.state);
  useEffect(() => {
    if (panel.session.isPossible) preloadShell();
  }, [panel]);
  return (
    <PanelContext value={panel}>
      <I18nProvider locale="en-GB">
        <ConnectionBanner />
        {phase === "looking" ? (
          <LoadingPage />
        ) : phase === "signed-out" ? (
          <SignInPage onTyping={preloadShell} />
        ) : (
          <SectionBoundary isWholePage>
            <Suspense fallback={<LoadingPage />}>
              <Shell />
            </Suspense>
          </SectionBoundary>
        )}
        <ToastRegion />
      </I18nProvider>
    </PanelContext>
  );
}

/**
 * Loads the code of the pages behind the sign-in in advance. Ignores a failure, because the panel loads the code again when it shows a
 * page.
 */
function preloadShell(): void {
  loadShell().catch(() => undefined);
}

async function loadShell() {
  return await import("./layout/shell.js");
}
