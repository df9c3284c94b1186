import { createContext, useContext } from "react";
import type { Session } from "../session.js";

export const SessionContext = createContext<Session | undefined>(undefined);

/** The daemon that the screens look at. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("used on a screen that needs no session");
  return session;
}
