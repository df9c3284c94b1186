import { EventSubscription } from "./live/event-subscription.js";
import { Connection } from "./live/connection.js";
import { Resources } from "./live/resources.js";
import { panelPathsOf, type PanelPaths } from "./router/panel-paths.js";
import { Router } from "./router/router.js";
import { RememberedSession } from "./session/remembered-session.js";
import { Session } from "./session/session.js";
import { Rail } from "./layout/rail.js";
import { Theme } from "./layout/theme.js";
import { Toasts } from "./components/toasts.js";

/** The objects that all components of the panel share. */
export interface Panel {
  readonly paths: PanelPaths;
  readonly connection: Connection;
  readonly session: Session;
  readonly resources: Resources;
  readonly router: Router;
  readonly toasts: Toasts;
  readonly theme: Theme;
  readonly rail: Rail;
}

/** Creates the shared objects of the panel, then requests the daemon's discovery document and the session. */
export function openPanel(): Panel {
  const paths = panelPathsOf(document.baseURI);
  const connection: Connection = new Connection({
    daemonPath: paths.daemonPath,
    fetch: (...call) => fetch(...call),
    onRefused: () => session.end(),
  });
  const session = new Session({ connection, remembered: new RememberedSession({ storage: localStorage, panelPath: paths.panelPath }) });
  /**
   * Returns the principal while the user is signed in, the daemon is reachable and the tab is visible. Otherwise returns undefined, and the
   * panel sends no requests: browsers limit the connections per host.
   */
  const onlooker = () => {
    const state = session.state.get();
    const isAway = connection.state.get().awaySinceMs !== undefined;
    const isServed = !document.hidden && !isAway && state.phase === "signed-in" && !state.hasEnded;
    return isServed ? state.principal : undefined;
  };
  const resources = new Resources({ isOpen: () => onlooker() !== undefined });
  const changes = new EventSubscription({
    connection,
    onFed: (isFed) => resources.setFed(isFed),
    onTouched: (touched) => resources.touch(touched),
    onRefused: () => session.end(),
  });
  const resumeIfOpen = () => {
    if (session.state.get().phase === "signed-out") resources.forget();
    if (onlooker()) resources.resume();
    changes.setReader(onlooker());
  };
  document.addEventListener("visibilitychange", resumeIfOpen);
  session.state.subscribe(resumeIfOpen);
  connection.state.subscribe(() => {
    const { awaySinceMs, discovery } = connection.state.get();
    if (awaySinceMs === undefined && discovery && session.state.get().phase === "looking") void session.look();
    resumeIfOpen();
  });
  void connection.find();
  const router = new Router(paths.panelPath, window);
  const theme = new Theme(localStorage, document.documentElement);
  return { paths, connection, session, resources, router, toasts: new Toasts(), theme, rail: new Rail(localStorage) };
}
