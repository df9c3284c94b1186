import { setImmediate } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import { UnexpectedAnswerError, type ClientOf } from "../../shared/client.js";
import { show, type DaemonMetrics, type PluginMetrics, type ShownMetrics, type WorkerMetrics } from "../../shared/contract/metrics.js";
import {
  history as historyOperation,
  sparklines as sparklinesOperation,
  type HistoryRange,
  type MetricsHistory,
  type Sparkline,
} from "../../shared/contract/metrics-history.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover } from "../../shared/namespace.js";
import { assertNamespace } from "../http/authorization.js";
import type { ResourceHandlers } from "../http/handler.js";
import {
  asksOthers,
  collectResponses,
  isMissingWorker,
  missingOf,
  resultsOf,
  toListedInstances,
  type KnownInstances,
  type ListedResponse,
} from "../instances/ask-others.js";
import { arePossibleSparklines, isPossibleHistory, type HistorySelection } from "../metrics/history/check-history.js";
import { mergeHistories, mergeSparklines } from "../metrics/history/merge-histories.js";
import { mergeMetrics } from "../metrics/merge-metrics.js";
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
  readonly instances: KnownInstances;
  readonly isInstalled: (name: string) => boolean;
}

const offered = { metrics: { show, history: historyOperation, sparklines: sparklinesOperation } };
type MetricsClient = ClientOf<typeof offered>;

export function createMetricsHandlers(options: MetricsHandlersOptions): ResourceHandlers<"metrics"> {
  const { metrics, exposition, history, instances, isInstalled } = options;
  return {
    text: async ({ principal }) =>
      exposition.write({
        workers: await metrics.workers((name) => namespacesCover(principal.namespaces, name)),
        daemon: metrics.daemon(isRestricted(principal)),
        plugins: metrics.plugins(isRestricted(principal)),
      }),
    show: async ({ query: { instance, ...query }, principal, key }) => {
      const readOwn = () => readMetrics(metrics, query, principal);
      if (!asksOthers(instances, instance)) return readOwn();
      const call = async (client: MetricsClient) =>
        withPermitted(await client.metrics.show({ query: { ...query, instance: "self" } }), query, principal);
      return toMergedMetrics(await collectResponses(instances, instance, { request: { key, offered, call }, readOwn }));
    },
    history: async ({ query: { worker, range, instance }, principal, key }) => {
      if (worker !== undefined) assertNamespace(principal, worker);
      else if (isRestricted(principal))
        throw new ApiError(
          "NAMESPACE_DENIED",
          `The key "${principal.name}" is restricted to ${principal.namespaces.join(", ")}. Select one of its workers with the query parameter "worker".`,
        );
      const readOwn = async () => (worker === undefined || isInstalled(worker) ? history.read(worker, range) : undefined);
      const call = async (client: MetricsClient) => {
        try {
          return checkedHistory(await client.metrics.history({ query: { worker, range, instance: "self" } }), { worker, range });
        } catch (error) {
          if (isMissingWorker(error)) return undefined;
          throw error;
        }
      };
      const found = asksOthers(instances, instance)
        ? toMergedHistory(await collectResponses(instances, instance, { request: { key, offered, call }, readOwn }), worker)
        : await readOwn();
      if (!found) throw new ApiError("WORKER_NOT_FOUND", `The worker ${JSON.stringify(worker)} is not installed.`);
      return found;
    },
    sparklines: async ({ query: { instance }, principal, key }) => {
      const isWanted = (name: string) => namespacesCover(principal.namespaces, name);
      const readOwn = () => history.sparklines(isWanted);
      if (!asksOthers(instances, instance)) return readOwn();
      const call = async (client: MetricsClient) => (await askSparklines(client)).filter(({ name }) => isWanted(name));
      const responses = await collectResponses(instances, instance, { request: { key, offered, call }, readOwn });
      return mergeSparklines(resultsOf(responses), { isPartial: missingOf(responses) !== undefined });
    },
  };
}

async function askSparklines(client: MetricsClient): Promise<Sparkline[]> {
  const sparklines = await client.metrics.sparklines({ query: { instance: "self" } });
  if (!arePossibleSparklines(sparklines)) throw impossible();
  return sparklines;
}

/**
 * Returns the history from another daemon. For a single worker, omits markers of other workers. Throws if the history is longer than a
 * daemon records.
 */
function checkedHistory(found: MetricsHistory, selection: HistorySelection): MetricsHistory {
  if (!isPossibleHistory(found, selection)) throw impossible();
  return selection.worker === undefined ? found : { ...found, markers: found.markers.filter((marker) => marker.worker === undefined) };
}

function impossible(): UnexpectedAnswerError {
  return new UnexpectedAnswerError("The response contains more than a daemon records.", { status: 200, requestId: undefined, text: "" });
}

interface MetricsQuery {
  readonly worker?: string | undefined;
  readonly detail: "workers" | "totals";
}

function isWantedBy(query: MetricsQuery, { namespaces }: Principal): (name: string) => boolean {
  return (name) => (query.worker === undefined || query.worker === name) && namespacesCover(namespaces, name);
}

/** Returns the totals of the workers. Omits the panel, except if the query selects the panel. */
function toTotals(workers: readonly WorkerMetrics[], query: MetricsQuery): ShownMetrics["totals"] {
  return totalsOf(query.worker === panelName ? workers : workers.filter(({ name }) => name !== panelName));
}

/** Returns the part of another daemon's metrics that the caller is allowed to see. The other daemon also checks the key of the caller. */
function withPermitted(shown: ShownMetrics, query: MetricsQuery, principal: Principal): ShownMetrics {
  const isWanted = isWantedBy(query, principal);
  const workers = shown.workers.filter(({ name }) => isWanted(name));
  const totals = workers.length === shown.workers.length ? shown.totals : toTotals(workers, query);
  if (!isRestricted(principal)) return { ...shown, totals, workers };
  const { version, startedAt, uptimeSeconds, eventLoopLag } = shown.daemon;
  return { daemon: { version, startedAt, uptimeSeconds, eventLoopLag }, totals, workers };
}

/** Returns the metrics of this daemon. */
async function readMetrics(metrics: MetricsPort, query: MetricsQuery, principal: Principal): Promise<ShownMetrics> {
  const readings = await metrics.workers(isWantedBy(query, principal));
  const workers: WorkerMetrics[] = [];
  for (const [index, reading] of readings.entries()) {
    workers.push(toWorkerMetrics(reading, performance.now()));
    // Waits for one turn of the event loop after each group of workers, so that the daemon can serve other requests.
    if (index % batchSize === batchSize - 1) await setImmediate();
  }
  const wantsAll = query.detail === "workers" && query.worker === undefined;
  return {
    daemon: metrics.daemon(isRestricted(principal)),
    totals: toTotals(workers, query),
    workers: query.detail === "workers" ? workers : [],
    ...(wantsAll && !isRestricted(principal) ? { plugins: metrics.plugins(false) } : {}),
  };
}

/**
 * Adds up the metrics of all daemons that responded. The first result is that of this daemon, so the field `daemon` describes this daemon.
 */
function toMergedMetrics(responses: readonly ListedResponse<ShownMetrics>[]): ShownMetrics {
  const results = resultsOf(responses);
  return {
    daemon: (results[0] as ShownMetrics).daemon,
    ...mergeMetrics(results),
    instances: responses.map(({ instance: { name, id }, response }) => ({
      name,
      id,
      ...("result" in response ? { daemon: response.result.daemon, totals: response.result.totals } : { problem: response.problem }),
    })),
  };
}

/**
 * Adds up the histories of all daemons that have the worker. Returns undefined if no daemon has it. Throws INSTANCE_UNAVAILABLE if only a
 * daemon without a response possibly has it.
 */
function toMergedHistory(
  responses: readonly ListedResponse<MetricsHistory | undefined>[],
  worker: string | undefined,
): MetricsHistory | undefined {
  const [first, ...others] = responses.flatMap(({ instance, response }) =>
    "result" in response && response.result ? [{ instance: instance.name, history: response.result }] : [],
  );
  const missing = missingOf(responses);
  if (!first && missing)
    throw new ApiError(
      "INSTANCE_UNAVAILABLE",
      `No daemon that responds has the worker ${JSON.stringify(worker)}, and the daemon ${missing.name} gives no usable response. ${missing.problem}`,
    );
  if (!first) return undefined;
  const options = { isPartial: missing !== undefined, isOfDaemons: worker === undefined, now: Date.now() / 1000 };
  return { ...mergeHistories([first, ...others], options), instances: toListedInstances(responses) };
}

function isRestricted(principal: Principal): boolean {
  return !principal.namespaces.includes("*");
}
