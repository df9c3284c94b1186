import type { AppTabProps } from "./app-tabs.js";
import { useMemo } from "react";
import { Chart } from "../../components/chart.js";
import { ErrorMessage } from "../../components/error-message.js";
import { MeterBar } from "../../components/meter-bar.js";
import { Sparkline } from "../../components/sparkline.js";
import { StatTile } from "../../components/stat-tile.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { megabytes, milliseconds, percent, rate } from "../overview/figures.js";
import { HistoryCharts } from "../overview/history-charts.js";
import { RangeChoice, useRange } from "../overview/range-choice.js";
import { useMetricsHistory } from "../overview/use-metrics-history.js";
import { activityOf } from "./app.js";
import { AppIsolates } from "./app-isolates.js";
import { useAppMetrics } from "./use-app-metrics.js";

/** The first page of an app: its figures of the last minute, charts of its history, and its isolates. */
export function AppOverview({ app: { name } }: AppTabProps) {
  const rows = useAppMetrics(name).get(name) ?? [];
  const [range] = useRange();
  const { series, markers, error } = useMetricsHistory(range, { worker: name });
  const { requestsPerSecond, requests, failed, failureShare, p50Ms, p99Ms, isolates, memoryBytes, memoryLimitBytes } = activityOf(rows);
  const limitOfOne = Math.max(0, ...rows.map((row) => row.memoryLimitBytes ?? 0));
  const limits = useMemo(
    () => series.isolates.map((count) => (count === null || limitOfOne === 0 ? null : Math.max(1, count) * limitOfOne)),
    [series, limitOfOne],
  );
  return (
    <div className="app-overview">
      <RangeChoice />
      <div className="stat-tiles">
        <StatTile
          label="Requests"
          value={rate(requestsPerSecond)}
          unit="per second"
          note={`${requests.toLocaleString("en-GB")} since the daemon started`}
        >
          <Sparkline label="Requests per second" values={values(series.requestsPerSecond)} format={rate} />
        </StatTile>
        <StatTile
          label="Failing"
          value={percent(failureShare)}
          tone={failureShare >= 0.01 ? "bad" : "plain"}
          note={`${failed.toLocaleString("en-GB")} failed since the daemon started`}
        >
          <Sparkline label="Share of failed requests" values={values(series.failedShare)} format={percent} tone="bad" />
        </StatTile>
        <StatTile label="Latency p99" value={milliseconds([p99Ms])} note={`p50 ${milliseconds([p50Ms])}, of the last minute`}>
          <Sparkline label="Latency p99" values={values(series.p99Ms)} format={(value) => milliseconds([value])} />
        </StatTile>
        <StatTile
          label="Memory"
          value={megabytes(memoryBytes)}
          {...(memoryLimitBytes === undefined ? {} : { unit: `of ${megabytes(memoryLimitBytes)}` })}
          note={limitOfOne === 0 ? "Without isolates" : `Limit ${megabytes(limitOfOne)} for each isolate`}
        >
          {memoryLimitBytes !== undefined && <MeterBar value={memoryBytes} limit={memoryLimitBytes} />}
        </StatTile>
        <StatTile label="Running isolates" value={isolates.toLocaleString("en-GB")} note="Processes that run the app">
          <Sparkline label="Running isolates" values={values(series.isolates)} format={String} />
        </StatTile>
      </div>
      {error !== undefined && !(error instanceof DaemonAwayError) && <ErrorMessage title="The history could not be read" error={error} />}
      <HistoryCharts series={series} markers={markers} />
      {limitOfOne > 0 && (
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

/** Returns the values of a history without its gaps, because a sparkline cannot show gaps. */
function values(series: readonly (number | null)[]): number[] {
  return series.filter((value) => value !== null);
}
