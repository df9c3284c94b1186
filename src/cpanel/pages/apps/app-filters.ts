import type { WorkerHealth } from "../../../shared/contract/worker-health.js";
import type { App } from "./app.js";
import { isFailing } from "./use-app-health.js";

/** Filter value that selects apps without a namespace. No namespace can have this name. */
const unscoped = "-";

export const segmentNames = ["", "failing", "serving", "disabled"] as const;

/** Group of an app in the list. */
export type AppSegment = (typeof segmentNames)[number];

export interface AppFilters {
  readonly search: string;
  /** Namespace filter: a namespace such as `@team`, `-` for apps without a namespace, or empty for all apps. */
  readonly namespace: string;
  /** Group of apps: `failing`, `serving`, `disabled`, or empty for all apps. */
  readonly state: string;
  /** Source filter: `all` includes built-in apps, an empty value excludes built-in apps. */
  readonly source: string;
}

export type HealthByName = ReadonlyMap<string, Pick<WorkerHealth, "state">>;

export const sourceChoices = [
  { value: "", label: "uploaded" },
  { value: "all", label: "all, built-in too" },
];

/**
 * Returns the group of an app. If all versions are disabled, the group is `disabled`. While the state is unknown, the group is `serving`.
 */
export function segmentOf({ name, serving }: Pick<App, "name" | "serving">, health: HealthByName): Exclude<AppSegment, ""> {
  if (serving === undefined) return "disabled";
  const state = health.get(name);
  return state !== undefined && isFailing(state) ? "failing" : "serving";
}

export function filterApps(
  apps: readonly App[],
  { search, namespace, state, source }: AppFilters,
  health: HealthByName = new Map(),
): readonly App[] {
  const wanted = search.trim().toLowerCase();
  const inNamespace = namespace === unscoped ? "" : namespace;
  return apps.filter(
    (app) =>
      (source === "all" || !app.isBuiltIn) &&
      app.name.includes(wanted) &&
      (namespace === "" || app.namespace === inNamespace) &&
      (state === "" || segmentOf(app, health) === state),
  );
}

/** Returns the choices of the namespace filter: all apps, then each namespace that has apps. */
export function namespaceChoices(apps: readonly App[]): readonly { readonly value: string; readonly label: string }[] {
  const namespaces = [...new Set(apps.map(({ namespace }) => namespace))].toSorted();
  const named = namespaces.map((namespace) =>
    namespace === "" ? { value: unscoped, label: "none" } : { value: namespace, label: namespace },
  );
  return [{ value: "", label: "all" }, ...named];
}
