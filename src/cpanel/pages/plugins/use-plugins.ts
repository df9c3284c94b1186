import { useCallback, useMemo } from "react";
import type { Plugin } from "../../../shared/contract/plugins.js";
import { useApi } from "../../live/use-api.js";
import { useResource, type Resource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { pluginOperations } from "./plugin-operations.js";
import { toRows, type PluginRow } from "./plugin-row.js";

export interface Plugins {
  readonly installed: Resource<readonly Plugin[]>;
  readonly rows: readonly PluginRow[];
  /** Requests the lists of installed and loaded plugins again, after a change. */
  readonly refresh: () => Promise<void>;
}

/** Returns the installed plugins, with details of the loaded plugins. */
export function usePlugins(): Plugins {
  const api = useApi(pluginOperations);
  const isWanted = useMay("plugins:read");
  const installed = useResource("plugins", () => api.plugins.list(), { isWanted });
  const loaded = useResource("plugins.loaded", () => api.plugins.loaded(), { isWanted });
  const rows = useMemo(() => toRows(installed.data ?? [], loaded.data ?? []), [installed.data, loaded.data]);
  const [refreshInstalled, refreshLoaded] = [installed.refresh, loaded.refresh];
  const refresh = useCallback(async () => {
    await Promise.all([refreshInstalled(), refreshLoaded()]);
  }, [refreshInstalled, refreshLoaded]);
  return { installed, rows, refresh };
}
