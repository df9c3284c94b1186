import { useMemo } from "react";
import { history, sparklines, type HistoryRange, type Sparkline } from "../../../shared/contract/metrics-history.js";
import type { ChartMarker } from "../../components/chart.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { noHistory, toChartMarkers, toSeries, type HistorySeries } from "./metrics-history.js";

const operations = { metrics: { history, sparklines } };
const intervalsMs: Readonly<Record<HistoryRange, number>> = { "1h": 10_000, "24h": 60_000, "14d": 300_000 };
/** Polling interval of the sparklines. The daemon adds one value to a sparkline each minute, so a new value appears within 30 s. */
const sparklineIntervalMs = 30_000;

export interface ShownHistory {
  readonly series: HistorySeries;
  readonly markers: readonly ChartMarker[];
  /** Error of the last request. Undefined if the last request succeeded. */
  readonly error: unknown;
  readonly isLoaded: boolean;
}

/** Returns the history of a worker and keeps it up to date. If `worker` is undefined, returns the history of the daemon. */
export function useMetricsHistory(range: HistoryRange, { worker, isWanted = true }: { worker?: string; isWanted?: boolean }): ShownHistory {
  const api = useApi(operations);
  const mayRead = useMay("workers:read");
  const query = worker === undefined ? { range } : { range, worker };
  const { data, error } = useResource(`metrics.history ${range} ${worker ?? ""}`, () => api.metrics.history({ query }), {
    intervalMs: intervalsMs[range],
    isWanted: isWanted && mayRead,
  });
  return useMemo(
    () => ({
      series: data ? toSeries(data, Date.now() / 1000) : noHistory,
      markers: data ? toChartMarkers(data.markers) : [],
      error,
      isLoaded: data !== undefined,
    }),
    [data, error],
  );
}

/** Returns the requests of the last 60 minutes, by worker. Omits workers without requests. `data` is undefined before the first response. */
export function useSparklines({ isWanted = true }: { isWanted?: boolean } = {}): {
  readonly data: readonly Sparkline[] | undefined;
  readonly error: unknown;
} {
  const api = useApi(operations);
  const mayRead = useMay("workers:read");
  const { data, error } = useResource("metrics.sparklines", () => api.metrics.sparklines(), {
    intervalMs: sparklineIntervalMs,
    isWanted: isWanted && mayRead,
  });
  return { data, error };
}
