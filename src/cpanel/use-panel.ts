import { createContext, useContext } from "react";
import type { Panel } from "./panel.js";

export const PanelContext = createContext<Panel | undefined>(undefined);

export function usePanel(): Panel {
  const panel = useContext(PanelContext);
  if (!panel) throw new Error("outside of the panel");
  return panel;
}
