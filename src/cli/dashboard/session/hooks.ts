import { createContext, useContext } from "react";
import type { Dashboard } from "../dashboard.js";
import type { Session } from "./session.js";
import type { ScreenId } from "../screens.js";

export const DashboardContext = createContext<Dashboard | undefined>(undefined);

export const SessionContext = createContext<Session | undefined>(undefined);
export const NavigationContext = createContext<Navigation>({ subject: undefined, show: () => {} });

/** What every part of the dashboard works with. */
export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext);
  if (dashboard === undefined) throw new Error("used outside of the dashboard");
  return dashboard;
}

/** The daemon that the screens look at. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("used on a screen that needs no session");
  return session;
}

/** From one screen to another. */
export interface Navigation {
  /** What the screen was opened for, such as a worker's name; undefined: nothing in particular. */
  readonly subject: string | undefined;
  readonly show: (screen: ScreenId, subject?: string) => void;
}

export function useNavigation(): Navigation {
  return useContext(NavigationContext);
}
