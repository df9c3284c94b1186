import type { LoadedPlugin, Plugin } from "../../../shared/contract/plugins.js";
import { deletePlugin, reloadPlugins, togglePlugin, type PluginTarget } from "../actions/plugins.js";
import { Detail, type Fact } from "../components/detail.js";
import type { Column } from "../components/list.js";
import { ListScreen } from "../components/list-screen.js";
import { orderedHeading, useOrder } from "../components/use-order.js";
import { RequirePermission } from "../components/require-permission.js";
import { markedState, severityOf, stateColor } from "../components/state-mark.js";
import { useActions } from "../actions/use-actions.js";
import { useChanges, useIsStale, useQuery } from "../queries/hooks.js";
import { useDashboard, useNavigation } from "../session/hooks.js";
import { pluginSourceText } from "../../../shared/plugin-source.js";

/** Orders of the list, in the sequence in which the shortcut selects them. */
const orders = ["severity", "name"] as const;
type Order = (typeof orders)[number];

const columnsOf = (order: Order): readonly Column<Row>[] => [
  { heading: orderedHeading("NAME", order === "name", "↑"), text: ({ plugin }) => plugin.name },
  { heading: "VERSION", width: 10, text: ({ plugin }) => plugin.version },
  {
    heading: orderedHeading("STATE", order === "severity", "↓"),
    width: 11,
    text: ({ plugin: { health } }) => markedState(health.state),
    color: ({ plugin: { health } }) => stateColor(health.state),
  },
  { heading: "SOURCE", width: 8, text: ({ plugin }) => plugin.source },
  { heading: "BASE", width: 14, text: ({ loaded }) => (loaded ? loaded.base || "hooks only" : "-") },
];

interface Row extends PluginTarget {
  /** Details of a loaded plugin. Undefined if the plugin is not loaded. */
  readonly loaded: LoadedPlugin | undefined;
  /** Position of the plugin in the order in which the daemon runs the hooks of the plugins, from 1. */
  readonly position: number;
  readonly loadedCount: number;
  readonly stateOf: (name: string) => string;
}
const keyOf = ({ plugin }: Row) => plugin.name;

/** Lists the installed plugins with their states and load errors. */
export function PluginsScreen() {
  return (
    <RequirePermission permission="plugins:read">
      <Plugins />
    </RequirePermission>
  );
}

function Plugins() {
  const { overlays } = useDashboard();
  const plugins = useQuery("plugins", (client) => client.plugins.list());
  const loaded = useQuery("plugins.loaded", (client) => client.plugins.loaded());
  const isStale = useIsStale();
  const { subject } = useNavigation();
  const order = useOrder(orders);
  useActions([reloadPlugins], {}, "runtimectl plugins list");
  const upload = () => overlays.show({ kind: "palette", initial: "plugins upload ./" });
  useChanges({ "plugins.upload": upload }, "plugins:install", ["runtimectl plugins upload ./dir"]);
  return (
    <ListScreen
      nouns={["plugin", "plugins"]}
      {...{ keyOf, isStale }}
      firstKey={subject}
      columns={columnsOf(order)}
      items={plugins.value && sorted(toRows(plugins.value, loaded.value ?? []), order)}
      error={plugins.error}
      textOf={({ plugin }) =>
        `${plugin.name} ${plugin.version} ${plugin.health.state} ${plugin.status} ${plugin.source} ${plugin.error ?? ""}`
      }
      empty="no plugins; to upload a folder: runtimectl plugins upload ./dir"
      detail={(row) => <PluginDetail row={row} isStale={isStale} />}
    />
  );
}

function sorted(rows: readonly Row[], order: Order): Row[] {
  const rank = ({ plugin }: Row) => (order === "severity" ? severityOf(plugin.health.state) : 0);
  return rows.toSorted((one, other) => rank(one) - rank(other) || (one.plugin.name < other.plugin.name ? -1 : 1));
}

function PluginDetail({ row, isStale }: { readonly row: Row; readonly isStale: boolean }) {
  useActions([togglePlugin, deletePlugin], row, "runtimectl plugins loaded");
  const { plugin, loaded } = row;
  return (
    <Detail
      title={`${plugin.name} ${plugin.version}`}
      facts={[...factsOf(row), ...(loaded ? workOf(row, loaded) : [])]}
      isStale={isStale}
    />
  );
}

function factsOf({ plugin, neededBy, stateOf }: Row): Fact[] {
  return [
    { name: "state", value: meaningOf(plugin), color: stateColor(plugin.health.state) },
    ...(plugin.error === undefined ? [] : [{ name: "error", value: plugin.error, color: "red", mostLines: 4 }]),
    { name: "source", value: pluginSourceText(plugin) },
    { name: "folder", value: plugin.path },
    ...(neededBy.length === 0 ? [] : [{ name: "used by", value: neededBy.map((name) => `${name} ${stateOf(name)}`).join(" · ") }]),
  ];
}

function workOf({ position, loadedCount, stateOf }: Row, { base, dependencies, optionalDependencies, menus }: LoadedPlugin): Fact[] {
  const needs = [
    ...dependencies.map((name) => `${name} ${stateOf(name)}`),
    ...optionalDependencies.map((name) => `${name} ${stateOf(name)}, optional`),
  ];
  return [
    { name: "base", value: base || "none (only hooks)" },
    { name: "hooks", value: `${position} of ${loadedCount} in order` },
    { name: "depends on", value: needs.length === 0 ? "none" : needs.join(" · "), mostLines: 4 },
    ...(menus.length === 0
      ? []
      : [{ name: "menus", value: menus.map(({ title, path }) => `${title} → ${path}`).join(" · "), mostLines: 4 }]),
  ];
}

function meaningOf({ status, health }: Plugin): string {
  const state = markedState(health.state);
  if (status === "waiting") return `${state}: changed on disk; a reload loads the change`;
  return `${state}: ${{ loaded: "loaded", disabled: "installed, not loaded", failed: "failed to load" }[status] ?? status}`;
}

function toRows(plugins: readonly Plugin[], loaded: readonly LoadedPlugin[]): Row[] {
  const stateOf = (name: string) => plugins.find((plugin) => plugin.name === name)?.status ?? "not installed";
  return plugins.map((plugin) => {
    const index = loaded.findIndex(({ name }) => name === plugin.name);
    return {
      plugin,
      stateOf,
      loaded: loaded[index],
      position: index + 1,
      loadedCount: loaded.length,
      neededBy: loaded.filter(({ dependencies }) => dependencies.includes(plugin.name)).map(({ name }) => name),
    };
  });
}
