import { Box } from "ink";
import type { WorkerMetrics } from "../../../shared/contract/metrics.js";
import { failureShare, requestHealth } from "../../../shared/failure-share.js";
import { toMegabytes, toMilliseconds, toRate, pluralize, endOn } from "../../output/format.js";
import { uploadedWorkers } from "../../uploaded-workers.js";
import { Detail, type Fact } from "../components/detail.js";
import { errorsOf } from "../workers/errors-of.js";
import { useActions } from "../actions/use-actions.js";
import { useIsStale, useQuery } from "../queries/hooks.js";
import { useSession } from "../session/hooks.js";
import { useLayout, useSize } from "../terminal/terminal-size.js";
import { readiness } from "./readiness.js";

/** Number of rows for two titles and an empty row. */
const headingRows = 3;

/** Shows state and load of the daemon. */
export function OverviewScreen() {
  const isStale = useIsStale();
  const layout = useLayout();
  const { rows } = useSize();
  const [daemon, traffic] = [useDaemonFacts(), useTrafficFacts()];
  useActions([], undefined, "runtimectl status");
  // Omits the first facts if there are too few rows, because the header also shows these facts.
  if (layout !== "wide" && daemon.length + traffic.length + headingRows > rows)
    return <Detail facts={[...daemon.slice(2), ...traffic].slice(0, rows)} isStale={isStale} />;
  return (
    <Box flexDirection={layout === "wide" ? "row" : "column"} columnGap={4} rowGap={1}>
      <Detail title="Daemon" facts={daemon} isStale={isStale} />
      <Detail title="Traffic" facts={traffic} isStale={isStale} />
    </Box>
  );
}

function useDaemonFacts(): Fact[] {
  const { settings } = useSession();
  const ready = useQuery("readiness", readiness).value;
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  const { value: installed, error: noWorkers } = useQuery("workers", (client) => client.workers.list());
  const workers = installed && uploadedWorkers(installed);
  const { value: plugins, error: noPlugins } = useQuery("plugins", (client) => client.plugins.list());
  const failed = plugins?.filter(({ status }) => status === "failed").length ?? 0;
  return [
    { name: "daemon", value: settings.origin.value },
    { name: "version", value: ready?.version ?? "…" },
    { name: "health", value: ready?.state ?? "…", ...(ready ? { color: ready.state === "ready" ? "green" : "red" } : {}) },
    { name: "signed in", value: principal ? `${principal.name}, ${principal.role}` : "…" },
    {
      name: "key expires",
      value: principal ? (principal.expiresAt === undefined ? "never" : endOn(principal.expiresAt, Date.now())) : "…",
    },
    {
      name: "workers",
      value: workers
        ? `${workers.length} (${pluralize(
            workers.reduce((sum, { versions }) => sum + versions.length, 0),
            "version",
          )})`
        : unknownBecause(noWorkers),
    },
    {
      name: "plugins",
      value: plugins ? `${plugins.length}${failed > 0 ? ` (${failed} failed)` : ""}` : unknownBecause(noPlugins),
      ...(failed > 0 ? { color: "red" } : {}),
    },
  ];
}

function useTrafficFacts(): Fact[] {
  const { value: metrics, error } = useQuery("metrics", (client) => client.metrics.show({ query: {} }));
  if (!metrics) return [{ name: "requests", value: unknownBecause(error) }];
  const { requests, isolates, memory } = metrics.totals;
  const { eventLoopLag, isolatePool, uploads, process } = metrics.daemon;
  return [
    { name: "requests", value: `${toRate(requests.perSecond)}/s · ${requests.inFlight} in flight · ${requests.queued} queued` },
    errorsOf(metrics.totals),
    ...failingOf(metrics.workers),
    {
      name: "isolates",
      value: `${isolates.running}${isolatePool ? ` of ${isolatePool.size}` : ""} · ${toMegabytes(memory.pssBytes ?? memory.rssBytes)}`,
    },
    { name: "loop lag", value: `p99 ${toMilliseconds(eventLoopLag.p99Ms)}` },
    ...(process ? [{ name: "process", value: `${toMegabytes(process.rssBytes)} · ${pluralize(process.connections, "connection")}` }] : []),
    ...(uploads
      ? [{ name: "uploads", value: `${uploads.running} running · ${uploads.installed} installed · ${uploads.failed} failed` }]
      : []),
  ];
}

/** Names the worker versions whose requests fail now. */
function failingOf(workers: readonly WorkerMetrics[]): Fact[] {
  const failing = workers.filter(({ requests }) => requestHealth(failureShare([requests])) === "failing");
  if (failing.length === 0) return [];
  return [{ name: "failing", value: failing.map(({ name, version }) => `${name} ${version}`).join(", "), color: "red", isLong: true }];
}

/** Returns the text for a value that is not loaded: a placeholder, or the error. */
function unknownBecause(error: Error | undefined): string {
  return error === undefined ? "…" : `not available: ${error.message}`;
}
