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

/** The pages that require a sign-in. The browser loads their code separately, and therefore shows the sign-in page sooner. */
const Shell = lazy(async () => ({ default: (await loadShell()).Shell }));

/** Renders the sign-in page if no session exists. Otherwise renders the shell with the page that the URL names. */
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
 * Loads the code of the pages behind the sign-in in advance. Ignores a failure, because the panel loads the code again when a page appears.
 */
function preloadShell(): void {
  loadShell().catch(() => undefined);
}

async function loadShell() {
  return await import("./layout/shell.js");
}
