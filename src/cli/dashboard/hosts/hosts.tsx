import { toHostRows, type HostRow } from "../../../shared/host-rows.js";
import { ago, toMinute } from "../../output/format.js";
import { addHost, addRequestedHost, parseHostTarget, removeHost } from "../actions/hosts.js";
import { useActions } from "../actions/use-actions.js";
import { Detail } from "../components/detail.js";
import type { Column } from "../components/list.js";
import { ListScreen } from "../components/list-screen.js";
import { RequirePermission } from "../components/require-permission.js";
import { usePerforming } from "../keyboard/key-dispatcher.js";
import { useChanges, useIsStale, useQuery } from "../queries/hooks.js";
import { useDashboard } from "../session/hooks.js";

const columns: readonly Column<HostRow>[] = [
  { heading: "HOST", text: ({ host }) => host },
  { heading: "WORKER", width: 20, text: ({ worker }) => worker },
  { heading: "STATE", width: 9, text: ({ state }) => state, color: ({ state }) => (state === "requested" ? "yellow" : undefined) },
  { heading: "VERSION", width: 8, text: ({ version }) => version ?? "active" },
];

/** Lists the host names of workers, including those that manifests only request. */
export function HostsScreen() {
  return (
    <RequirePermission permission="workers:read">
      <Hosts />
    </RequirePermission>
  );
}

function Hosts() {
  const hosts = useQuery("hosts", (client) => client.hosts.list());
  const isStale = useIsStale();
  const { keymap } = useDashboard();
  useNewHost();
  const domain = hosts.value?.appDomain;
  return (
    <ListScreen
      nouns={["host name", "host names"]}
      {...{ columns, isStale }}
      keyOf={({ host, worker, state }) => `${host} ${worker} ${state}`}
      items={hosts.value && toHostRows(hosts.value)}
      error={hosts.error}
      empty={`no host names; press ${keymap.keyOf("hosts.new")} to add one`}
      place={domain === undefined ? "" : `workers also have NAME.${domain}`}
      detail={(row) => <HostDetail row={row} isStale={isStale} />}
    />
  );
}

/** Registers the shortcut that prompts for a host name and its worker, and then adds the host name. */
function useNewHost(): void {
  const { overlays } = useDashboard();
  const performing = usePerforming();
  const submit = (text: string): void => {
    const target = parseHostTarget(text);
    if (typeof target === "string") overlays.say("failed", target);
    else performing(addHost, target);
  };
  const create = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: "new host:",
        initial: "",
        hint: "HOST WORKER [VERSION], such as shop.example.org @team/shop ^1 · esc cancels",
        onSubmit: submit,
      },
    });
  useChanges({ "hosts.new": create }, "workers:install", ["runtimectl hosts add shop.example.org @team/shop"]);
}

function HostDetail({ row, isStale }: { readonly row: HostRow; readonly isStale: boolean }) {
  const { host, worker, version, state, by, at } = row;
  useActions([addRequestedHost, removeHost], row, "runtimectl hosts list");
  const added = at === undefined ? [] : [{ name: "added", value: `${toMinute(at)} (${ago(at, Date.now())}) by ${by}` }];
  return (
    <Detail
      title={host}
      isStale={isStale}
      facts={[
        { name: "worker", value: worker },
        { name: "version", value: version ?? "the active one" },
        state === "added"
          ? { name: "state", value: "added" }
          : { name: "state", value: "requested by the manifest; requests to it do not reach the worker", color: "yellow" },
        ...added,
      ]}
    />
  );
}
