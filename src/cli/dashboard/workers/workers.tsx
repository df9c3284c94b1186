import { useMemo, useState } from "react";
import { toMegabytes, toRate } from "../../output/format.js";
import { sparkline } from "../../output/sparkline.js";
import { markedState, stateColor } from "../components/state-mark.js";
import type { Column } from "../components/list.js";
import { ListScreen } from "../components/list-screen.js";
import { orderedHeading, useOrder } from "../components/use-order.js";
import { RequirePermission } from "../components/require-permission.js";
import { WorkerDetail } from "./worker-detail.js";
import { useIsStale, useQuery, useChanges } from "../queries/hooks.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { memoryOf, sortedRows, workerOrders, type WorkerOrder } from "./sorted-rows.js";
import { workerRows, type WorkerRow } from "./worker-rows.js";
import { useDashboard, useNavigation } from "../session/hooks.js";

const keyOf = ({ name, version, source }: WorkerRow) => `${name}@${version} ${source}`;
/** Width of a row's sparkline in columns. Each column covers 5 minutes of the last hour. */
const sparklineColumns = 12;

const columnsOf = (order: WorkerOrder, versionWidth: number): readonly Column<WorkerRow>[] => [
  { heading: orderedHeading("NAME", order === "name", "↑"), text: ({ name }) => name },
  { heading: "VERSION", width: versionWidth, text: ({ version }) => version },
  {
    heading: orderedHeading("STATE", order === "severity", "↓"),
    width: 10,
    text: ({ state }) => markedState(state),
    color: ({ state }) => stateColor(state),
  },
  { heading: "ACTIVE", width: 6, text: ({ version, answering }) => (version === answering ? "active" : ""), color: () => "green" },
  {
    heading: orderedHeading("REQ/S", order === "rate", "↓"),
    width: 6,
    text: ({ metrics }) => (metrics ? toRate(metrics.requests.perSecond) : "-"),
  },
  {
    heading: "ERRORS",
    width: 7,
    text: ({ metrics }) => String(metrics?.requests.failed ?? "-"),
    color: ({ metrics }) => (metrics?.requests.failed ? "red" : undefined),
  },
  { heading: orderedHeading("MEMORY", order === "memory", "↓"), width: 9, text: (row) => toMegabytes(memoryOf(row) ?? 0) },
  { heading: "LAST HOUR", width: sparklineColumns, text: ({ lastHour }) => sparkline(lastHour, sparklineColumns), color: () => "cyan" },
];

/** Minimum and maximum width of the column of versions. */
const [leastVersionWidth, mostVersionWidth] = [7, 12];

function versionWidthOf(rows: readonly WorkerRow[]): number {
  return Math.min(
    mostVersionWidth,
    rows.reduce((width, { version }) => Math.max(width, version.length), leastVersionWidth),
  );
}

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
  const health = useQuery("health", (client) => client.workers.health({ query: {} }));
  const sparklines = useQuery("sparklines", (client) => client.metrics.sparklines());
  const isStale = useIsStale();
  const { subject } = useNavigation();
  const [showsBuiltIn, setShowsBuiltIn] = useState(false);
  const order = useOrder(workerOrders);
  // Shows the list after the first response with the states, so that the order does not change below the cursor.
  const isComplete = health.value !== undefined || health.error !== undefined;
  const rows = useMemo(() => {
    const all =
      isComplete &&
      workers.value &&
      workerRows(workers.value, { metrics: metrics.value?.workers ?? [], health: health.value ?? [], sparklines: sparklines.value ?? [] });
    if (!all) return undefined;
    return sortedRows(showsBuiltIn ? all : all.filter(({ source }) => source === "uploaded"), order);
  }, [isComplete, workers.value, metrics.value, health.value, sparklines.value, showsBuiltIn, order]);
  const columns = useMemo(() => columnsOf(order, versionWidthOf(rows ?? [])), [order, rows]);
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
      textOf={(row) => `${row.name} ${row.version} ${row.state} ${row.source}`}
      empty="no workers; press u to upload a folder, or run: runtimectl workers upload ./dir"
      detail={(row) => <WorkerDetail row={row} isStale={isStale} />}
    />
  );
}

/**
 * Registers the shortcut for uploads. If the permission is missing, the shortcut shows the name of the permission. In read-only mode,
 * the shortcut has no effect.
 */
function useUpload(): void {
  const { overlays } = useDashboard();
  useChanges({ "workers.upload": () => overlays.show({ kind: "upload" }) }, "workers:install", ["runtimectl workers upload ./dir"]);
}
