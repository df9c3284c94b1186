import { useMemo } from "react";
import type { Worker } from "../../../shared/contract/workers.js";
import { useApi } from "../../live/use-api.js";
import { useResource, type Resource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { toApps, type App } from "./app.js";
import { appOperations } from "./app-operations.js";

/** Returns the apps that the key is allowed to see, and polls the list while the component is mounted. */
export function useApps(): { readonly resource: Resource<readonly Worker[]>; readonly apps: readonly App[] } {
  const api = useApi(appOperations);
  const resource = useResource<readonly Worker[]>("workers", () => api.workers.list(), { isWanted: useMay("workers:read") });
  const apps = useMemo(() => toApps(resource.data ?? []), [resource.data]);
  return { resource, apps };
}
