import { useMemo, useState } from "react";
import { toRate } from "../../output/format.js";
import type { Column } from "../components/list.js";
import { ListScreen } from "../components/list-screen.js";
import { RequirePermission } from "../components/require-permission.js";
import { WorkerDetail } from "./worker-detail.js";
import { useIsStale, useQuery, useChanges } from "../queries/hooks.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { workerRows, type WorkerRow } from "./worker-rows.js";
import { useDashboard, useNavigation } from "../session/hooks.js";

const keyOf = ({ name, version, source }: WorkerRow) => `${name}@${version} ${source}`;
/** Returns the state of a version, or its health if an enabled version has failing requests. */
const stateOf = ({ isEnabled, health }: WorkerRow) => (isEnabled ? (health === "ok" ? "enabled" : health) : "disabled");
const colors = { ok: "green", degraded: "yellow", failing: "red" } as const;

const columns: readonly Column<WorkerRow>[] = [
  { heading: "NAME", text: ({ name }) => name },
  { heading: "VERSION", width: 12, text: ({ version }) => version },
  { heading: "STATE", width: 8, text: stateOf, color: ({ isEnabled, health }) => (isEnabled ? colors[health] : "yellow") },
  { heading: "LIVE", width: 4, text: ({ version, answering }) => (version === answering ? "live" : ""), color: () => "green" },
  { heading: "REQ/S", width: 6, text: ({ metrics }) => (metrics ? toRate(metrics.requests.perSecond) : "-") },
  {
    heading: "ERRORS",
    width: 7,
    text: ({ metrics }) => String(metrics?.requests.failed ?? "-"),
    color: ({ metrics }) => (metrics?.requests.failed ? "red" : undefined),
  },
  { heading: "SOURCE", width: 8, text: ({ source }) => source },
];

/** Lists the versions of all workers, with their state and load. */
export function WorkersScreen() {
  return (
    <RequirePermission permission="workers:read">
      <Workers />
    </RequirePermission>
  );
}

function Workers() {
  const workers = useQuery("workers", (client) => client.workers.list());
  const metrics = useQuery("metrics", (client) => client.metrics.show({ query: {} }));
  const isStale = useIsStale();
  const { subject } = useNavigation();
  const [showsBuiltIn, setShowsBuiltIn] = useState(false);
  const rows = useMemo(() => {
    const all = workers.value && workerRows(workers.value, metrics.value?.workers ?? []);
    return showsBuiltIn ? all : all?.filter(({ source }) => source === "uploaded");
  }, [workers.value, metrics.value, showsBuiltIn]);
  const hasBuiltIn = workers.value?.some(({ source }) => source === "built-in") ?? false;
  useKeyScope({ handlers: hasBuiltIn ? { "workers.builtIn": () => setShowsBuiltIn(!showsBuiltIn) } : {} });
  useUpload();
  return (
    <ListScreen
      nouns={["version", "versions"]}
      {...{ columns, keyOf, isStale }}
      firstKey={subject === undefined ? undefined : `${subject} uploaded`}
      items={rows}
      error={workers.error}
      textOf={(row) => `${row.name} ${row.version} ${stateOf(row)} ${row.source}`}
      empty="no workers; press u to upload a folder, or run: runtimectl workers upload ./dir"
      detail={(row) => <WorkerDetail row={row} isStale={isStale} />}
    />
  );
}

/**
 * Registers the shortcut for uploads. If the permission is missing, the shortcut shows its name. In read-only mode, the shortcut has no
 * effect.
 */
function useUpload(): void {
  const { overlays } = useDashboard();
  useChanges({ "workers.upload": () => overlays.show({ kind: "upload" }) }, "workers:install", ["runtimectl workers upload ./dir"]);
}
