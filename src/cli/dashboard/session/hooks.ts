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
  if (dashboard === undefined) throw new Error("useDashboard() was called outside of the dashboard");
  return dashboard;
}

/** Returns the current session. Throws if no session is open. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("useSession() was called on a screen without a session");
  return session;
}

/** The current item of the screen, and a function that switches to another screen. */
export interface Navigation {
  /** The item that the screen shows first, such as a worker name. */
  readonly subject: string | undefined;
  readonly show: (screen: ScreenId, subject?: string) => void;
}

export function useNavigation(): Navigation {
  return useContext(NavigationContext);
}
