import type { App } from "./app.js";

/** Value for apps without a namespace; no namespace has this name. */
const unscoped = "-";

export interface AppFilters {
  readonly search: string;
  /** `@team`, `-` for none, empty for all. */
  readonly namespace: string;
  /** `serving`, `off`, or empty for all. */
  readonly state: string;
  /** `all` includes built-in apps. */
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

/** Returns the existing namespaces; none if there is only one. */
export function namespaceChoices(apps: readonly App[]): readonly { readonly value: string; readonly label: string }[] {
  const namespaces = [...new Set(apps.map(({ namespace }) => namespace))].toSorted();
  const named = namespaces.map((namespace) =>
    namespace === "" ? { value: unscoped, label: "none" } : { value: namespace, label: namespace },
  );
  return [{ value: "", label: "all" }, ...named];
}
