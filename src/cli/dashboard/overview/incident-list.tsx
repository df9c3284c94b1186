import { Box, Text } from "ink";
import { useSyncExternalStore } from "react";
import type { Incident } from "../../../shared/incidents.js";
import { ago, pluralize } from "../../output/format.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import { rotateKey, toKeyTarget } from "../actions/keys.js";
import { restartVersion, rollbackWorker } from "../actions/workers.js";
import { reloadPlugins, togglePlugin } from "../actions/plugins.js";
import { useActions } from "../actions/use-actions.js";
import { FilterPrompt, List, placeColumns, useList, type Column } from "../components/list.js";
import { Rule } from "../components/rule.js";
import { SafeText } from "../components/safe-text.js";
import { markedState, stateColor } from "../components/state-mark.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import type { ActionId } from "../keyboard/keymap.js";
import { useQuery } from "../queries/hooks.js";
import { useDashboard, useNavigation } from "../session/hooks.js";
import { useSize } from "../terminal/terminal-size.js";
import { fitted } from "../terminal/fitted.js";
import { workerRows } from "../workers/worker-rows.js";

const longestTitle = 32;
/** Number of rows for the selected incident: a line with the keys of its remedies, and two for its cause. */
const selectedRows = 3;
/** Number of rows in addition to the incidents: the rule, the headings, and the rows for the selected incident. */
const otherRows = 2 + selectedRows;

const keyOf = ({ kind, subject }: Incident) => `${kind} ${subject}`;

interface Props {
  readonly incidents: readonly Incident[];
  /** Number of workers. The component shows it if there are no incidents. */
  readonly workerCount: number;
  readonly isStale: boolean;
  /** Maximum height in rows. */
  readonly height: number;
}

/** Returns the number of rows that the list of incidents needs, at most `mostRows`. The user scrolls to see the other incidents. */
export function incidentRows(count: number, mostRows: number): number {
  return count === 0 ? 2 : Math.min(mostRows, count + otherRows);
}

/** Lists the incidents. Shortcuts show the selected incident or its log, roll its worker back, or restart its worker. */
export function IncidentList({ incidents, workerCount, isStale, height }: Props) {
  const { columns: width } = useSize();
  const listHeight = Math.max(2, height - otherRows + 1);
  const list = useList({ items: incidents, keyOf, textOf: titleOf, height: listHeight - 1, canOpen: false });
  const { selected } = list;
  if (incidents.length === 0)
    return (
      <Box flexDirection="column" height={height} flexShrink={0}>
        <Rule title="Nothing needs attention" columns={width} color="green" />
        <SafeText color="green">{`● ${workerCount === 0 ? "no worker is installed" : `${pluralize(workerCount, "worker")} without a problem`}`}</SafeText>
      </Box>
    );
  const titleWidth = Math.min(longestTitle, Math.max(...incidents.map((incident) => titleOf(incident).length)));
  const columns: readonly Column<Incident>[] = [
    {
      heading: "INCIDENT",
      text: (incident) => `${fitted(titleOf(incident), titleWidth)}  ${causeOf(incident)}`,
      color: ({ state }) => stateColor(state),
    },
    { heading: "STATE", width: 11, text: ({ state }) => markedState(state), color: ({ state }) => stateColor(state) },
    { heading: "SINCE", width: 8, text: ({ since }) => (since === undefined ? "" : ago(since, Date.now())) },
  ];
  return (
    <Box flexDirection="column" height={height} flexShrink={0} overflowY="hidden">
      {list.isFiltering ? (
        <FilterPrompt list={list} />
      ) : (
        <Rule
          title={pluralize(incidents.length, "incident")}
          note={list.filter === "" ? "" : `filter: ${list.filter}`}
          columns={width}
          color="red"
        />
      )}
      <List
        {...{ keyOf, isStale, width }}
        columns={placeColumns(columns, incidents, width)}
        items={list.items}
        selectedIndex={list.selectedIndex}
        firstIndex={list.firstIndex}
        height={listHeight}
      />
      <Box flexDirection="column" height={selectedRows} flexShrink={0} overflowY="hidden" paddingLeft={2}>
        {selected && <Remedies incident={selected} />}
        <SafeText wrap="wrap">{selected ? causeOf(selected) : "no matches; esc clears the filter"}</SafeText>
      </Box>
      {selected && <IncidentKeys key={keyOf(selected)} incident={selected} />}
    </Box>
  );
}

function titleOf({ kind, subject, version }: Incident): string {
  const named = version === undefined ? subject : `${subject} ${version}`;
  return kind === "plugin" || kind === "key" ? `${kind} ${named}` : named;
}

function causeOf({ reason, error, where }: Incident): string {
  const cause = error === undefined ? reason : `${reason.replace(/\.$/, "")}: ${error}`;
  return where === undefined ? cause : `${cause} · ${where.replace(/\.$/, "")}`;
}

interface Remedy {
  readonly action: ActionId;
  readonly text: string;
  /** The command that the list shows if the shortcut of the action does not work, for example because the permission is missing. */
  readonly otherwise?: string;
}

const openIncident: Remedy = { action: "list.open", text: "open" };

/** Returns the actions that can end the incident or show its cause, the most effective first. */
function remediesOf({ kind, rollbackTo, subject, keyId }: Incident): Remedy[] {
  if (kind === "instance") return [{ ...openIncident, text: "show instances" }];
  if (kind === "check") return [{ ...openIncident, text: "select versions to delete" }];
  if (kind === "key")
    return [{ action: "keys.rotate", text: "rotate the key", otherwise: `runtimectl keys rotate ${keyId}` }, openIncident];
  if (kind === "plugin")
    return [{ action: "plugins.toggle", text: "disable" }, { action: "plugins.reload", text: "reload all plugins" }, openIncident];
  const rollback: Remedy = {
    action: "workers.rollback",
    text: `roll back to ${rollbackTo}`,
    otherwise: `runtimectl workers rollback ${subject}`,
  };
  return [
    ...(rollbackTo === undefined ? [] : [rollback]),
    { action: "workers.restart", text: "restart" },
    { action: "workers.logs", text: "logs" },
    openIncident,
  ];
}

/** Shows the actions for an incident with their keys. Shows only keys that work. */
function Remedies({ incident }: { readonly incident: Incident }) {
  const { keymap, dispatcher } = useDashboard();
  const valid = useSyncExternalStore(dispatcher.subscribe, dispatcher.valid);
  const parts = remediesOf(incident).flatMap(({ action, text, otherwise }) => {
    if (valid.includes(action)) return [{ key: keymap.keyOf(action), text }];
    return otherwise === undefined ? [] : [{ key: "", text: `${text}: ${otherwise}` }];
  });
  return (
    <Text wrap="truncate-end">
      {parts.map(({ key, text }, index) => (
        <Text key={text}>
          {index > 0 && <Text dimColor> · </Text>}
          {key !== "" && <Text bold color="cyan">{`${key} `}</Text>}
          {sanitizeForTerminal(text)}
        </Text>
      ))}
    </Text>
  );
}

function IncidentKeys({ incident }: { readonly incident: Incident }) {
  const { show } = useNavigation();
  const { kind, subject, version, keyId } = incident;
  const open = {
    worker: () => show("workers", `${subject}@${version ?? ""}`),
    plugin: () => show("plugins", subject),
    key: () => show("keys", String(keyId)),
    instance: () => show("instances"),
    check: subject === "disk-space" ? () => show("workers") : undefined,
  }[kind];
  useKeyScope({ handlers: open === undefined ? {} : { "list.open": open } });
  if (kind === "worker") return <WorkerKeys {...{ incident }} />;
  if (kind === "key") return <KeyKeys {...{ incident }} />;
  return kind === "plugin" ? <PluginKeys {...{ incident }} /> : null;
}

function WorkerKeys({ incident: { subject, version } }: { readonly incident: Incident }) {
  const { show } = useNavigation();
  const { value: workers } = useQuery("workers", (client) => client.workers.list());
  const rows =
    workers &&
    workerRows(
      workers.filter(({ name }) => name === subject),
      { metrics: [], health: [] },
    );
  const row = rows?.find((one) => one.version === version) ?? rows?.[0];
  useActions([rollbackWorker, restartVersion], row, `runtimectl workers health ${subject}`);
  useKeyScope({ handlers: { "workers.logs": () => show("logs", subject) } });
  return null;
}

function PluginKeys({ incident: { subject } }: { readonly incident: Incident }) {
  const { value: plugins } = useQuery("plugins", (client) => client.plugins.list());
  const plugin = plugins?.find(({ name }) => name === subject);
  useActions([togglePlugin, reloadPlugins], plugin && { plugin, neededBy: [] }, `runtimectl plugins list`);
  return null;
}

function KeyKeys({ incident: { keyId } }: { readonly incident: Incident }) {
  const { isAccessible } = useDashboard();
  const { value: listed } = useQuery("keys", async (client) => (await client.keys.list()).keys);
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  const key = listed?.find(({ id }) => id === keyId);
  useActions([rotateKey], key && toKeyTarget(key, { principal, isAccessible }), "runtimectl keys list");
  return null;
}
