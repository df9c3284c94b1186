import type { App } from "./app.js";

/** Stands for the apps without a namespace: no namespace is called so. */
const unscoped = "-";

export interface AppFilters {
  readonly search: string;
  /** `@team`, `-` for none, empty for all. */
  readonly namespace: string;
  /** `serving`, `off`, or empty for all. */
  readonly state: string;
  /** `all` shows what is built in too. */
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

/** Those that there are; nothing to choose when there is but one. */
export function namespaceChoices(apps: readonly App[]): readonly { readonly value: string; readonly label: string }[] {
  const namespaces = [...new Set(apps.map(({ namespace }) => namespace))].toSorted();
  const named = namespaces.map((namespace) =>
    namespace === "" ? { value: unscoped, label: "none" } : { value: namespace, label: namespace },
  );
  return [{ value: "", label: "all" }, ...named];
}
