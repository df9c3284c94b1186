import { useMemo } from "react";
import { failureShare, requestHealth } from "../../../shared/failure-share.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Sparkline } from "../../components/sparkline.js";
import { StatTile } from "../../components/stat-tile.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { usePrincipal } from "../../session/use-principal.js";
import { useMetrics } from "../apps/use-app-metrics.js";
import { MissingInstances } from "../instances/missing-instances.js";
import { figureTones, lineTones, megabytes, milliseconds, percent, rate } from "./figures.js";
import { HistoryCharts } from "./history-charts.js";
import { noHistory, sumOfSparklines } from "./metrics-history.js";
import { useRange } from "./range-choice.js";
import { currentFigure, sinceStartText, tileFigures, type TileFigures } from "./tile-figures.js";
import { useMetricsHistory, useSparklines, type ShownHistory } from "./use-metrics-history.js";

/**
 * Returns the history of the daemon. For a key that is restricted to namespaces, returns the requests of its apps in the last hour instead,
 * because the history of the daemon includes other namespaces.
 */
export function useTraffic(): ShownHistory & { readonly isRestricted: boolean } {
  const isRestricted = !usePrincipal().namespaces.includes("*");
  const [range] = useRange();
  const history = useMetricsHistory(range, { isWanted: !isRestricted });
  const { data: sparklines, error } = useSparklines({ isWanted: isRestricted });
  const sum = useMemo(
    () => (isRestricted && sparklines && sparklines.length > 0 ? sumOfSparklines(sparklines, Date.now() / 1000) : noHistory),
    [isRestricted, sparklines],
  );
  return isRestricted
    ? { series: sum, markers: [], error, isLoaded: sparklines !== undefined, isRestricted }
    : { ...history, isRestricted };
}

/**
 * Tiles with the figures of the chosen period, each with a sparkline of the same period. The rows below contain current counts and the
 * counts since the start of the daemon.
 */
export function TrafficTiles({ series, isRestricted }: Pick<ReturnType<typeof useTraffic>, "series" | "isRestricted">) {
  const { data, error } = useMetrics();
  const [chosen] = useRange();
  if (!data)
    return error === undefined || error instanceof DaemonAwayError ? null : (
      <ErrorMessage title="The metrics could not be read" error={error} />
    );
  const range = isRestricted ? "1h" : chosen;
  const { requests, isolates, memory } = data.totals;
  const { isolatePool, process, startedAt } = data.daemon;
  const p99 = data.workers.flatMap(({ name, latency }) => (name === "cpanel" ? [] : (latency.recent.p99Ms ?? [])));
  const figures = tileFigures(series, range, {
    requestsPerSecond: requests.perSecond,
    failureShare: failureShare([requests]),
    p99Ms: p99.length === 0 ? null : Math.max(...p99),
  });
  const used = currentFigure((memory.pssBytes ?? memory.rssBytes) + (process?.rssBytes ?? 0), series.memoryBytes, range);
  const running = currentFigure(isolates.running, series.isolates, range);
  return (
    <div className="stat-tile-group">
      <div className="stat-tiles">
        <RequestsTile {...figures.requests} />
        <FailingTile {...figures.failing} />
        <LatencyTile {...figures.latency} />
        <StatTile label={process ? "Memory with daemon" : "Memory of isolates"} value={megabytes(used.value)} note={used.note}>
          <Sparkline label="Memory" values={used.values} format={megabytes} />
        </StatTile>
        <StatTile
          label="Running isolates"
          value={running.value}
          {...(isolatePool ? { unit: `of ${isolatePool.size} places` } : {})}
          note={running.note}
        >
          <Sparkline label="Running isolates" values={running.values} format={String} />
        </StatTile>
      </div>
      <ul className="stat-tile-rows quiet small">
        <li>
          Now: {requests.inFlight} in flight, {requests.queued} queued, {isolates.starting} isolates starting, {isolates.draining} draining
        </li>
        <li>{sinceStartText({ startedAt, requests: requests.total, failed: requests.failed })}</li>
      </ul>
    </div>
  );
}

/** Tile with the requests per second. */
export function RequestsTile({ value, note, values }: TileFigures["requests"]) {
  return (
    <StatTile label="Requests" value={rate(value)} unit="per second" note={note}>
      <Sparkline label="Requests per second" values={values} format={rate} />
    </StatTile>
  );
}

/** Tile with the share of failed requests. The share decides the color, as it decides the state of a worker. */
export function FailingTile({ value, note, values }: TileFigures["failing"]) {
  return (
    <StatTile label="Failing" value={percent(value)} tone={figureTones[requestHealth(value)]} note={note}>
      <Sparkline label="Share of failed requests" values={values} format={percent} tone={lineTones[requestHealth(value)]} />
    </StatTile>
  );
}

/** Tile with the p99 latency. */
export function LatencyTile({ value, note, values }: TileFigures["latency"]) {
  return (
    <StatTile label="Latency p99" value={milliseconds([value])} note={note}>
      <Sparkline label="Latency p99" values={values} format={(ms) => milliseconds([ms])} />
    </StatTile>
  );
}

/** Charts of the chosen period, with marks at deployments and restarts. */
export function TrafficCharts({ series, markers, error, isLoaded, isRestricted }: ReturnType<typeof useTraffic>) {
  return (
    <div className="overview-charts">
      {error !== undefined && !(error instanceof DaemonAwayError) && <ErrorMessage title="The history could not be read" error={error} />}
      <MissingInstances noun="values" />
      {isLoaded && <HistoryCharts series={series} markers={markers} hasLatency={!isRestricted} />}
      {isRestricted && (
        <p className="quiet small">The history of the daemon includes all namespaces. This key sees the last hour of its own apps.</p>
      )}
    </div>
  );
}
