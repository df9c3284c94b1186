import type { App } from "./app.js";

/** Filter value that selects apps without a namespace. No namespace can have this name. */
const unscoped = "-";

export interface AppFilters {
  readonly search: string;
  /** Namespace filter: a namespace such as `@team`, `-` for apps without a namespace, or empty for all apps. */
  readonly namespace: string;
  /** State filter: `serving`, `off`, or empty for all apps. */
  readonly state: string;
  /** Source filter: `all` includes built-in apps, an empty value excludes built-in apps. */
  readonly source: string;
}

export const stateChoices = [
  { value: "", label: "all" },
  { value: "serving", label: "serving" },
  { value: "off", label: "off" },
];

export const sourceChoices = [
  { value: "", label: "uploaded" },
  { value: "all", label: "all, built-in too" },
];

export function filterApps(apps: readonly App[], { search, namespace, state, source }: AppFilters): readonly App[] {
  const wanted = search.trim().toLowerCase();
  const inNamespace = namespace === unscoped ? "" : namespace;
  return apps.filter(
    (app) =>
      (source === "all" || !app.isBuiltIn) &&
      app.name.includes(wanted) &&
      (namespace === "" || app.namespace === inNamespace) &&
      (state === "" || (app.serving === undefined) === (state === "off")),
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
