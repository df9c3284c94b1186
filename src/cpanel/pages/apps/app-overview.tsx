import type { AppTabProps } from "./app-tabs.js";
import { useMemo } from "react";
import { Chart } from "../../components/chart.js";
import { ErrorMessage } from "../../components/error-message.js";
import { LoadingRows } from "../../components/loading-rows.js";
import { MeterBar } from "../../components/meter-bar.js";
import { Sparkline } from "../../components/sparkline.js";
import { StatTile } from "../../components/stat-tile.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { MissingInstances } from "../instances/missing-instances.js";
import { megabytes } from "../overview/figures.js";
import { HistoryCharts } from "../overview/history-charts.js";
import { RangeChoice, useRange } from "../overview/range-choice.js";
import { currentFigure, sinceStartText, tileFigures } from "../overview/tile-figures.js";
import { FailingTile, LatencyTile, RequestsTile } from "../overview/traffic.js";
import { useMetricsHistory } from "../overview/use-metrics-history.js";
import { activityOf, memoryNote } from "./app.js";
import { AppIsolates } from "./app-isolates.js";
import { useMetrics } from "./use-app-metrics.js";

/** The first page of an app: its figures, charts of its history, and its isolates. */
export function AppOverview({ app: { name } }: AppTabProps) {
  const { data, error: metricsError } = useMetrics(name);
  const rows = (data?.workers ?? []).filter((row) => row.name === name);
  const [range] = useRange();
  const { series, markers, error, isLoaded } = useMetricsHistory(range, { worker: name });
  const activity = activityOf(rows);
  const { requests, failed, memoryBytes, memoryLimitBytes } = activity;
  const figures = tileFigures(series, range, activity);
  const isolates = currentFigure(activity.isolates, series.isolates, range);
  const limitOfOne = Math.max(0, ...rows.map((row) => row.memoryLimitBytes ?? 0));
  const limits = useMemo(
    () => series.isolates.map((count) => (count === null || limitOfOne === 0 ? null : Math.max(1, count) * limitOfOne)),
    [series, limitOfOne],
  );
  return (
    <div className="app-overview">
      <RangeChoice />
      {data ? (
        <div className="stat-tile-group">
          <div className="stat-tiles">
            <RequestsTile {...figures.requests} />
            <FailingTile {...figures.failing} />
            <LatencyTile {...figures.latency} />
            <StatTile label="Memory" value={megabytes(memoryBytes)} note={memoryNote(activity)}>
              {memoryLimitBytes !== undefined && <MeterBar value={memoryBytes} limit={memoryLimitBytes} />}
            </StatTile>
            <StatTile label="Running isolates" value={isolates.value.toLocaleString("en-GB")} note={isolates.note}>
              <Sparkline label="Running isolates" values={isolates.values} format={String} />
            </StatTile>
          </div>
          <p className="quiet small">{sinceStartText({ startedAt: data.daemon.startedAt, requests, failed })}</p>
        </div>
      ) : metricsError === undefined || metricsError instanceof DaemonAwayError ? (
        <LoadingRows noun="figure" />
      ) : (
        <ErrorMessage title="The metrics could not be read" error={metricsError} />
      )}
      {error !== undefined && !(error instanceof DaemonAwayError) && <ErrorMessage title="The history could not be read" error={error} />}
      <MissingInstances noun="values" />
      {isLoaded && <HistoryCharts series={series} markers={markers} />}
      {isLoaded && limitOfOne > 0 && (
        <Chart
          title="Memory and its limit"
          at={series.at}
          markers={markers}
          height={160}
          syncKey="history"
          format={megabytes}
          series={[
            { label: "Used", color: "--chart-p90", values: series.memoryBytes },
            { label: "Limit", color: "--chart-5xx", values: limits },
          ]}
        />
      )}
      <AppIsolates name={name} />
    </div>
  );
}
