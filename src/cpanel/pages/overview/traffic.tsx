import { useMemo } from "react";
import { failureShare } from "../../../shared/failure-share.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Sparkline } from "../../components/sparkline.js";
import { StatTile } from "../../components/stat-tile.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { usePrincipal } from "../../session/use-principal.js";
import { useMetrics } from "../apps/use-app-metrics.js";
import { megabytes, milliseconds, percent, rate } from "./figures.js";
import { HistoryCharts } from "./history-charts.js";
import { noHistory, sumOfSparklines, type HistorySeries } from "./metrics-history.js";
import { useRange } from "./range-choice.js";
import { useMetricsHistory, useSparklines, type ShownHistory } from "./use-metrics-history.js";

/** Share of failed requests, from 0 to 1, from which the tile shows the figure in red. */
const redShare = 0.01;

/**
 * Returns the history of the daemon. For a key that is restricted to namespaces, returns the requests of its apps in the last hour instead,
 * because the history of the daemon includes other namespaces.
 */
export function useTraffic(): ShownHistory & { readonly isRestricted: boolean } {
  const isRestricted = !usePrincipal().namespaces.includes("*");
  const [range] = useRange();
  const history = useMetricsHistory(range, { isWanted: !isRestricted });
  const sparklines = useSparklines({ isWanted: isRestricted });
  const sum = useMemo(
    () => (isRestricted && sparklines.length > 0 ? sumOfSparklines(sparklines, Date.now() / 1000) : noHistory),
    [isRestricted, sparklines],
  );
  return isRestricted ? { ...history, series: sum, markers: [], isRestricted } : { ...history, isRestricted };
}

/** Tiles with the figures of the last minute. Each tile shows the course of its figure in the chosen period. */
export function TrafficTiles({ series }: { series: HistorySeries }) {
  const { data, error } = useMetrics();
  if (!data)
    return error === undefined || error instanceof DaemonAwayError ? null : (
      <ErrorMessage title="The metrics could not be read" error={error} />
    );
  const { requests, isolates, memory } = data.totals;
  const { isolatePool } = data.daemon;
  const share = failureShare([requests]);
  const p99 = data.workers.filter(({ name }) => name !== "cpanel").map(({ latency }) => latency.recent.p99Ms);
  return (
    <div className="stat-tiles">
      <StatTile
        label="Requests"
        value={rate(requests.perSecond)}
        unit="per second"
        note={`${requests.inFlight} in flight · ${requests.queued} queued · ${requests.total.toLocaleString("en-GB")} since the start`}
      >
        <Sparkline label="Requests per second" values={known(series.requestsPerSecond)} format={rate} />
      </StatTile>
      <StatTile
        label="Failing"
        value={percent(share)}
        tone={share >= redShare ? "bad" : "plain"}
        note={`${requests.failed.toLocaleString("en-GB")} failed since the start`}
      >
        <Sparkline label="Share of failed requests" values={known(series.failedShare)} format={percent} tone="bad" />
      </StatTile>
      <StatTile label="Latency p99" value={milliseconds(p99)} note="Slowest app, last minute">
        <Sparkline label="Latency p99" values={known(series.p99Ms)} format={(value) => milliseconds([value])} />
      </StatTile>
      <StatTile label="Memory" value={megabytes(memory.pssBytes ?? memory.rssBytes)} note={daemonMemory(data.daemon.process?.rssBytes)}>
        <Sparkline label="Memory of isolates and the daemon" values={known(series.memoryBytes)} format={megabytes} />
      </StatTile>
      <StatTile
        label="Isolates"
        value={isolates.running}
        {...(isolatePool ? { unit: `of ${isolatePool.size} places` } : {})}
        note={`${isolates.starting} starting · ${isolates.draining} draining`}
      >
        <Sparkline label="Isolates" values={known(series.isolates)} format={String} />
      </StatTile>
    </div>
  );
}

/** Charts of the chosen period, with marks at deployments and restarts. */
export function TrafficCharts({ series, markers, error, isRestricted }: ReturnType<typeof useTraffic>) {
  return (
    <div className="overview-charts">
      {error !== undefined && !(error instanceof DaemonAwayError) && <ErrorMessage title="The history could not be read" error={error} />}
      <HistoryCharts series={series} markers={markers} hasLatency={!isRestricted} />
      {isRestricted && (
        <p className="quiet small">The history of the daemon includes all namespaces. This key sees the last hour of its own apps.</p>
      )}
    </div>
  );
}

function daemonMemory(rssBytes: number | undefined): string {
  return rssBytes === undefined ? "Isolates" : `Isolates; the daemon itself: ${megabytes(rssBytes)}`;
}

/** Returns the values of a history without its gaps, because a sparkline cannot show gaps. */
function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}
