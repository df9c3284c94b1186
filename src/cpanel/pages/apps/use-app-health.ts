import { useMemo } from "react";
import { health, type WorkerHealth } from "../../../shared/contract/worker-health.js";
import { useApi } from "../../live/use-api.js";
import { useResource, type Resource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";

const operations = { workers: { health } };

export interface AppHealth {
  readonly resource: Resource<readonly WorkerHealth[]>;
  readonly byName: ReadonlyMap<string, WorkerHealth>;
}

/** Returns the state of each app, with the cause of a problem. Events of the daemon refresh the states. */
export function useAppHealth(): AppHealth {
  const api = useApi(operations);
  const resource = useResource<readonly WorkerHealth[]>("workers.health", () => api.workers.health({ query: {} }), {
    isWanted: useMay("workers:read"),
  });
  const byName = useMemo(() => new Map((resource.data ?? []).map((one) => [one.name, one])), [resource.data]);
  return { resource, byName };
}

/** Returns the state of one app. Polls the state, because the last error can change without an event. */
export function useHealthOf(name: string): Resource<readonly WorkerHealth[]> {
  const api = useApi(operations);
  return useResource<readonly WorkerHealth[]>(`app.health ${name}`, () => api.workers.health({ query: { worker: name } }), {
    isWanted: useMay("workers:read"),
  });
}

/** Whether the panel marks an app in red, because it fails or because the daemon delays its next start after crashes. */
export function isFailing({ state }: Pick<WorkerHealth, "state">): boolean {
  return state === "failing" || state === "backoff";
}
