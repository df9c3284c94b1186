import { setImmediate } from "node:timers/promises";
import type { DaemonMetrics, PluginMetrics, WorkerMetrics } from "../../shared/contract/metrics.js";
import { ApiError } from "../../shared/api-error.js";
import type { HistoryRange, MetricsHistory, Sparkline } from "../../shared/contract/metrics-history.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover } from "../../shared/namespace.js";
import { assertNamespace } from "../http/authorization.js";
import type { ResourceHandlers } from "../http/handler.js";
import type { PrometheusExporter } from "../metrics/prometheus-exporter.js";
import { totalsOf, toWorkerMetrics, type WorkerReading } from "../metrics/worker-reading.js";

/** Number of workers whose metrics the daemon summarizes in one turn of the event loop. */
const batchSize = 50;

/**
 * Name of the worker that serves the panel. The totals omit requests to this worker, because opening the panel must not change the
 * displayed traffic.
 */
const panelName = "cpanel";

/** The functions of the metrics that these handlers use. */
export interface MetricsPort {
  workers(isWanted: (name: string) => boolean): Promise<WorkerReading[]>;
  daemon(isRestricted: boolean): DaemonMetrics;
  plugins(isRestricted: boolean): PluginMetrics[];
}

interface MetricsHandlersOptions {
  readonly metrics: MetricsPort;
  readonly exposition: PrometheusExporter;
  readonly history: {
    read(name: string | undefined, range: HistoryRange): Promise<MetricsHistory>;
    sparklines(isWanted: (name: string) => boolean): Sparkline[];
  };
  readonly isInstalled: (name: string) => boolean;
}

export function createMetricsHandlers({ metrics, exposition, history, isInstalled }: MetricsHandlersOptions): ResourceHandlers<"metrics"> {
  return {
    text: async ({ principal }) =>
      exposition.write({
        workers: await metrics.workers((name) => namespacesCover(principal.namespaces, name)),
        daemon: metrics.daemon(isRestricted(principal)),
        plugins: metrics.plugins(isRestricted(principal)),
      }),
    show: async ({ query, principal }) => {
      const isWanted = (name: string) =>
        (query.worker === undefined || query.worker === name) && namespacesCover(principal.namespaces, name);
      const readings = await metrics.workers(isWanted);
      const workers: WorkerMetrics[] = [];
      for (const [index, reading] of readings.entries()) {
        workers.push(toWorkerMetrics(reading, performance.now()));
        // Waits for one turn of the event loop after each group of workers, so that the daemon can serve other requests.
        if (index % batchSize === batchSize - 1) await setImmediate();
      }
      const wantsAll = query.detail === "workers" && query.worker === undefined;
      return {
        daemon: metrics.daemon(isRestricted(principal)),
        totals: totalsOf(query.worker === panelName ? workers : workers.filter(({ name }) => name !== panelName)),
        workers: query.detail === "workers" ? workers : [],
        ...(wantsAll && !isRestricted(principal) ? { plugins: metrics.plugins(false) } : {}),
      };
    },
    history: ({ query: { worker, range }, principal }) => {
      if (worker !== undefined) assertNamespace(principal, worker);
      else if (isRestricted(principal))
        throw new ApiError(
          "NAMESPACE_DENIED",
          `The key "${principal.name}" is restricted to ${principal.namespaces.join(", ")}. Select one of its workers with the query parameter "worker".`,
        );
      if (worker !== undefined && !isInstalled(worker))
        throw new ApiError("WORKER_NOT_FOUND", `The worker ${JSON.stringify(worker)} is not installed.`);
      return history.read(worker, range);
    },
    sparklines: ({ principal }) => history.sparklines((name) => namespacesCover(principal.namespaces, name)),
  };
}

function isRestricted(principal: Principal): boolean {
  return !principal.namespaces.includes("*");
}
