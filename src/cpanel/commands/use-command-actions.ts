import { useCallback, useEffect, useEffectEvent } from "react";
import { useAppActions, type AppActions } from "../pages/apps/use-app-actions.js";
import { useInstanceActions, type InstanceActions } from "../pages/instances/use-instance-actions.js";
import { usePluginActions, type PluginActions } from "../pages/plugins/use-plugin-actions.js";
import { usePanel } from "../use-panel.js";

/** The actions of the pages Apps, Plugins and Instances that the command menu offers, too. */
export interface CommandActions {
  readonly apps: AppActions;
  readonly plugins: PluginActions;
  readonly instances: InstanceActions;
}

/** Provides the actions of the command menu. Reports errors to the callback, because the menu is closed while an action runs. */
export function useCommandActions(onError: (error: unknown) => void): CommandActions {
  const { resources } = usePanel();
  const refresh = useCallback(
    async (...names: readonly string[]) => void (await Promise.all(names.map((name) => resources.of(name).refreshAfterChange()))),
    [resources],
  );
  const refreshApps = useCallback(() => refresh("workers", "workers.health"), [refresh]);
  const refreshPlugins = useCallback(() => refresh("plugins", "plugins.loaded"), [refresh]);
  const apps = useAppActions(refreshApps);
  const refreshInstances = useCallback(() => refresh("instances"), [refresh]);
  const plugins = usePluginActions(refreshPlugins);
  const instances = useInstanceActions(refreshInstances);
  useReport(apps.error, onError);
  useReport(plugins.failure?.error, onError);
  useReport(instances.error, onError);
  return { apps, plugins, instances };
}

function useReport(error: unknown, onError: (error: unknown) => void): void {
  const report = useEffectEvent(onError);
  useEffect(() => {
    if (error !== undefined) report(error);
  }, [error]);
}
