import type { Instance } from "../../../shared/contract/instances.js";
import { instanceLabel, runningVersions } from "../../../shared/instance-list.js";
import { lagText, markedName } from "../../output/instance-texts.js";
import { toggleDrain } from "../actions/instances.js";
import { useActions } from "../actions/use-actions.js";
import { Detail } from "../components/detail.js";
import type { Column } from "../components/list.js";
import { ListScreen } from "../components/list-screen.js";
import { RequirePermission } from "../components/require-permission.js";
import { markedState, stateColor } from "../components/state-mark.js";
import { useIsStale, useQuery } from "../queries/hooks.js";
import { useInstances } from "./use-instances.js";

/** Polling interval of this screen. A drained daemon reports its new state after its next synchronization, without an event. */
const intervalMs = 2000;
/** Maximum number of lines for the problem of a daemon. */
const mostProblemLines = 4;

const columns: readonly Column<Instance>[] = [
  { heading: "NAME", text: markedName },
  { heading: "STATE", width: 13, text: ({ state }) => markedState(state), color: ({ state }) => stateColor(state) },
  { heading: "VERSION", width: 10, text: ({ version }) => version },
  { heading: "LAG", width: 7, text: lagText },
  { heading: "ISOLATES", width: 8, text: ({ isolates }) => (isolates === null ? "-" : String(isolates)) },
  { heading: "ADDRESS", width: 28, text: ({ address }) => address ?? "-" },
];

/** Lists the daemons with the same primary. */
export function InstancesScreen() {
  return (
    <RequirePermission permission="workers:read">
      <Instances />
    </RequirePermission>
  );
}

function Instances() {
  const { value, error } = useInstances({ intervalMs });
  const isStale = useIsStale();
  const all = value ?? [];
  const versionCount = runningVersions(all).length;
  return (
    <ListScreen
      nouns={["instance", "instances"]}
      {...{ columns, error, isStale }}
      keyOf={({ id }) => id}
      items={value}
      empty="no instance is listed"
      place={versionCount > 1 ? `${versionCount} versions` : ""}
      detail={(instance) => <InstanceDetail {...{ instance, all, isStale }} />}
    />
  );
}

interface DetailProps {
  readonly instance: Instance;
  readonly all: readonly Instance[];
  readonly isStale: boolean;
}

function InstanceDetail({ instance, all, isStale }: DetailProps) {
  const { name, id, address, version, isSelf, state, isolates, problem } = instance;
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  const restrictedTo = principal?.namespaces.includes("*") === false ? principal.namespaces : undefined;
  useActions([toggleDrain], { instance, all, restrictedTo }, "runtimectl instances list");
  return (
    <Detail
      title={instanceLabel(instance, all) === name ? name : `${name} ${id}`}
      isStale={isStale}
      facts={[
        { name: "state", value: markedState(state), color: stateColor(state) },
        ...(problem === undefined ? [] : [{ name: "problem", value: problem, color: stateColor(state), mostLines: mostProblemLines }]),
        { name: "version", value: version },
        { name: "address", value: address ?? "not known" },
        { name: "lag", value: lagText(instance) },
        { name: "isolates", value: isolates === null ? "-" : String(isolates) },
        ...(isSelf ? [{ name: "*", value: "responds to the dashboard" }] : []),
        ...(all.length === 1 ? [{ name: "others", value: "none: instances share their keys through a primary", mostLines: 2 }] : []),
      ]}
    />
  );
}
