import { createContext, useContext } from "react";
import type { ScreenId } from "../screens/screens.js";

/** From one screen to another. */
export interface Navigation {
  /** What the screen was opened for, such as a worker's name; undefined: nothing in particular. */
  readonly subject: string | undefined;
  readonly show: (screen: ScreenId, subject?: string) => void;
}

export const NavigationContext = createContext<Navigation>({ subject: undefined, show: () => {} });

export function useNavigation(): Navigation {
  return useContext(NavigationContext);
}
