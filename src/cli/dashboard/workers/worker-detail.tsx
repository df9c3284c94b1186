import { Box } from "ink";
import type { WorkerMetrics } from "../../../shared/contract/metrics.js";
import { describeError, affectedInstances } from "../../../shared/incidents.js";
import type { WorkerHealth } from "../../../shared/contract/worker-health.js";
import { installerOf } from "../../../shared/installation.js";
import { ago, toMegabytes, toMilliseconds, toRate } from "../../output/format.js";
import { errorsOf } from "./errors-of.js";
import { hasDesktop, openBrowser } from "../../open-browser.js";
import { deleteVersion, deleteWorker, restartVersion, rollbackWorker, toggleVersion } from "../actions/workers.js";
import { useActions } from "../actions/use-actions.js";
import { useDashboard, useNavigation, useSession } from "../session/hooks.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { useMissingPermissions } from "../components/require-permission.js";
import { useSize } from "../terminal/terminal-size.js";
import type { WorkerRow } from "./worker-rows.js";
import { Detail, detailRows, type Fact } from "../components/detail.js";
import { markedState, stateColor } from "../components/state-mark.js";
import { LogTail } from "../logs/log-tail.js";

const actions = [toggleVersion, rollbackWorker, restartVersion, deleteVersion, deleteWorker];
/**
 * Minimum number of visible log lines. If the space is too small, the list of versions shrinks to one line, and a long cause or error is
 * truncated.
 */
const leastLogRows = 3;
/**
 * Minimum number of log lines in a terminal with few rows: the newest error and the newest line. The last properties are omitted if they do
 * not fit.
 */
const leastTailRows = 2;
/** Possible line limits for the cause and for the error of a problem. The first limit that leaves enough space for the log applies. */
const causeLines = [4, 3, 2, 1] as const;

interface Props {
  readonly row: WorkerRow;
  readonly isStale: boolean;
}

/** Shows a worker version: state, load, all versions of the worker, and the newest log lines. */
export function WorkerDetail({ row, isStale }: Props) {
  const { columns, rows } = useSize();
  const { settings } = useSession();
  const { name, version, installation } = row;
  const missing = useMissingPermissions(actions);
  const path = pathOf(row);
  useActions(actions, row, `runtimectl workers show ${name}`);
  useWorkerKeys(row, `${settings.origin.value}${path}`);
  const source = installation ? `${row.source} ${ago(installation.at, Date.now())} ${installerOf(installation)}` : row.source;
  const factsWith = (mostLines: number): Fact[] => [
    { name: "state", value: stateOf(row, path), color: stateColor(row.state) },
    ...problemOf(row.health, mostLines),
    ...trafficOf(row.metrics),
    { name: "source", value: `${source}${row.isRemovable ? "" : ", cannot be changed"} · ${row.folder}` },
    ...(missing.length === 0 ? [] : [{ name: "your key", value: `does not have ${missing.join(", ")}`, color: "yellow", mostLines: 2 }]),
  ];
  const title = `${name} ${version}`;
  const roomWith = (facts: readonly Fact[]) => rows - leastLogRows - detailRows(title, facts, columns);
  const facts = causeLines.map((mostLines) => factsWith(mostLines)).find((some) => roomWith(some) > 0) ?? factsWith(1);
  const all = [...facts.slice(0, 1), ...versionsOf(row, roomWith(facts)), ...facts.slice(1)];
  const logRows = Math.min(rows, Math.max(leastTailRows, leastLogRows + roomWith(all)));
  return (
    <Box flexDirection="column" height={rows} overflowY="hidden">
      <Box flexShrink={0}>
        <Detail title={title} facts={all} isStale={isStale} height={rows - logRows} />
      </Box>
      <LogTail key={`${name}@${version}`} {...{ name, version }} height={logRows} />
    </Box>
  );
}

/** Registers shortcuts for the selected worker. Only shortcuts that change nothing on the server are included. */
function useWorkerKeys({ name, isEnabled }: WorkerRow, url: string): void {
  const { context, overlays, copy } = useDashboard();
  const { show } = useNavigation();
  const open = () => {
    const canOpen = hasDesktop(context.environment);
    if (canOpen) openBrowser(url, context.variables);
    overlays.say("note", canOpen ? `opening ${url}` : url);
  };
  const copyUrl = () => {
    copy(url);
    overlays.say("done", `${url} copied, if the terminal allows clipboard access`);
  };
  useKeyScope({
    handlers: {
      "workers.logs": () => show("logs", name),
      "workers.secrets": () => show("secrets", name),
      ...(isEnabled ? { "workers.open": open, copy: copyUrl } : {}),
    },
  });
}

/** Returns the path at which the daemon serves the version. */
function pathOf({ name, version, answering }: WorkerRow): string {
  return version === answering ? `/${name}/` : `/${name}@${version}/`;
}

function stateOf({ isEnabled, state, health, version, answering }: WorkerRow, path: string): string {
  if (!isEnabled) return markedState("disabled");
  if (version !== answering) return `enabled at ${path}`;
  const since = health === undefined || state === "ok" || state === "idle" ? "" : ` ${ago(health.since, Date.now())}`;
  return `${markedState(state)}${since}, active at ${path}`;
}

/** Returns the cause of a problem, the last error, and the version after whose deployment the problem began. */
function problemOf(health: WorkerHealth | undefined, mostLines: number): Fact[] {
  if (health?.reason === undefined) return [];
  const { reason, lastError, suspect } = health;
  const by = suspect?.by === undefined ? "" : ` by ${suspect.by}`;
  const error = lastError && describeError(lastError);
  const where = affectedInstances(health);
  return [
    { name: "cause", value: where === undefined ? reason : `${reason} ${where}`, color: stateColor(health.state), mostLines },
    ...(error === undefined || reason.includes(error) ? [] : [{ name: "error", value: error, color: "red", mostLines }]),
    ...(suspect === undefined ? [] : [{ name: "began", value: `after ${suspect.version} was deployed${by}`, color: "yellow" }]),
  ];
}

/** Returns one line per version of the worker, or a single line with all versions if they do not fit. */
function versionsOf({ worker, answering }: WorkerRow, room: number): Fact[] {
  const lines = worker.versions.map(
    ({ version, enabled }) => `${version} ${version === answering ? "active" : enabled ? "enabled" : "disabled"}`,
  );
  if (lines.length > Math.max(1, room)) return [{ name: "versions", value: lines.join(" · ") }];
  return lines.map((value, index) => ({ name: index === 0 ? "versions" : "", value }));
}

function trafficOf(metrics: WorkerMetrics | undefined): Fact[] {
  if (metrics === undefined) return [{ name: "requests", value: "none since the daemon started" }];
  const { requests, latency, isolates, memory } = metrics;
  const { p50Ms, p90Ms, p99Ms } = latency.recent;
  const waiting = requests.inFlight + requests.queued === 0 ? "" : ` · ${requests.inFlight} in flight, ${requests.queued} of them queued`;
  return [
    { name: "requests", value: `${toRate(requests.perSecond)}/s · ${requests.total} total${waiting}` },
    { name: "time", value: `p50 ${toMilliseconds(p50Ms)} · p90 ${toMilliseconds(p90Ms)} · p99 ${toMilliseconds(p99Ms)}` },
    errorsOf(metrics),
    {
      name: "isolates",
      value: `${isolates.running} running · ${toMegabytes(memory.pssBytes ?? memory.rssBytes)} · ${metrics.cpuSeconds.toFixed(1)} s CPU`,
    },
  ];
}
