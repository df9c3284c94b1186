import { createContext, useContext } from "react";
import type { Dashboard } from "../dashboard.js";
import type { Session } from "./session.js";
import type { ScreenId } from "../screens.js";

export const DashboardContext = createContext<Dashboard | undefined>(undefined);

export const SessionContext = createContext<Session | undefined>(undefined);
export const NavigationContext = createContext<Navigation>({ subject: undefined, show: () => {} });

/** Returns the shared state of the dashboard. */
export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext);
  if (dashboard === undefined) throw new Error("used outside of the dashboard");
  return dashboard;
}

/** Returns the current session. Throws without one. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("used on a screen that needs no session");
  return session;
}

/** Switches between screens. */
export interface Navigation {
  /** The initial item of the screen, such as a worker name. */
  readonly subject: string | undefined;
  readonly show: (screen: ScreenId, subject?: string) => void;
}

export function useNavigation(): Navigation {
  return useContext(NavigationContext);
}
