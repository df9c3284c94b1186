import { useMemo } from "react";
import type { InstalledVersion } from "../../../shared/worker-versions.js";
import type { App } from "./app.js";
import { useAppActions, type AppActions } from "./use-app-actions.js";

export interface VersionTransaction extends Pick<AppActions, "isPending" | "error" | "dismiss" | "dialog"> {
  readonly toggle: (installed: InstalledVersion) => void;
  /** Activates a version: enables it, then disables the versions that have priority over it. */
  readonly serve: (installed: InstalledVersion) => void;
  readonly restart: (installed: InstalledVersion) => void;
}

/** Provides the actions on the versions of one app. */
export function useVersionSwitches(app: App, onChanged: () => Promise<void>): VersionTransaction {
  const { isPending, error, dismiss, toggle, serve, restart, dialog } = useAppActions(onChanged);
  return useMemo(
    () => ({
      isPending,
      error,
      dismiss,
      toggle: (installed) => toggle(app, installed),
      serve: (installed) => serve(app, installed),
      restart: (installed) => restart(app, installed),
      dialog,
    }),
    [app, isPending, error, dismiss, toggle, serve, restart, dialog],
  );
}
