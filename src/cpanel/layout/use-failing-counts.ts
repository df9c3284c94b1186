import { list } from "../../shared/contract/plugins.js";
import { useApi } from "../live/use-api.js";
import { useResource } from "../live/use-resource.js";
import { isFailing, useAppHealth } from "../pages/apps/use-app-health.js";
import { useInstances } from "../pages/instances/use-instances.js";
import { useMay } from "../session/use-principal.js";

const operations = { plugins: { list } };

/** Numbers of failing apps, of failing plugins and of unreachable daemons, by the path of their section. */
export type FailingCounts = Readonly<Record<string, number>>;

/** Returns the numbers that the navigation shows beside the sections. Events of the daemon refresh the numbers. */
export function useFailingCounts(): FailingCounts {
  const api = useApi(operations);
  const { resource } = useAppHealth();
  const { data: plugins = [] } = useResource("plugins", () => api.plugins.list(), { isWanted: useMay("plugins:read") });
  const { data: instances = [] } = useInstances();
  return {
    apps: (resource.data ?? []).filter(isFailing).length,
    plugins: plugins.filter(({ health }) => health.state === "failing").length,
    instances: instances.filter(({ state }) => state === "unreachable").length,
  };
}
