import { Chart, type ChartMarker } from "../../components/chart.js";
import { milliseconds, rate } from "./figures.js";
import type { HistorySeries } from "./metrics-history.js";

interface HistoryChartsProps {
  readonly series: HistorySeries;
  readonly markers: readonly ChartMarker[];
  /** Whether the history contains latencies. A sum of sparklines contains no latencies. Default: true. */
  readonly hasLatency?: boolean;
}

/** Charts of the requests and of the latency over time, with a shared crosshair. */
export function HistoryCharts({ series, markers, hasLatency = true }: HistoryChartsProps) {
  const { at, succeededPerSecond, failedPerSecond, p50Ms, p99Ms } = series;
  return (
    <>
      <Chart
        title="Requests per second"
        at={at}
        markers={markers}
        isStacked
        syncKey="history"
        format={rate}
        series={[
          { label: "Failed", color: "--chart-5xx", values: failedPerSecond },
          { label: "Succeeded", color: "--chart-2xx", values: succeededPerSecond },
        ]}
      />
      {hasLatency && (
        <Chart
          title="Latency"
          at={at}
          markers={markers}
          height={160}
          syncKey="history"
          format={(value) => milliseconds([value])}
          series={[
            { label: "p50", color: "--chart-p50", values: p50Ms },
            { label: "p99", color: "--chart-p99", values: p99Ms },
          ]}
        />
      )}
    </>
  );
}
