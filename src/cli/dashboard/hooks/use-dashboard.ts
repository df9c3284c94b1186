import { createContext, useContext } from "react";
import type { Dashboard } from "../dashboard.js";

export const DashboardContext = createContext<Dashboard | undefined>(undefined);

/** What every part of the dashboard works with. */
export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext);
  if (dashboard === undefined) throw new Error("used outside of the dashboard");
  return dashboard;
}
