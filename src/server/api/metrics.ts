import { setImmediate } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import type { ClientOf } from "../../shared/client.js";
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
import { asksOthers, collectAnswers, toListedInstances, type KnownInstances, type ListedAnswer } from "../instances/ask-others.js";
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
      const call = (client: MetricsClient) => client.metrics.show({ query: { ...query, instance: "self" } });
      return toMergedMetrics(await collectAnswers(instances, instance, { question: { key, offered, call }, readOwn }));
    },
    history: async ({ query: { worker, range, instance }, principal, key }) => {
      if (worker !== undefined) assertNamespace(principal, worker);
      else if (isRestricted(principal))
        throw new ApiError(
          "NAMESPACE_DENIED",
          `The key "${principal.name}" is restricted to ${principal.namespaces.join(", ")}. Select one of its workers with the query parameter "worker".`,
        );
      const readOwn = async () => (worker === undefined || isInstalled(worker) ? history.read(worker, range) : undefined);
      const call = (client: MetricsClient) =>
        client.metrics.history({ query: { worker, range, instance: "self" } }).catch(withoutMissingWorker);
      const found = asksOthers(instances, instance)
        ? toMergedHistory(await collectAnswers(instances, instance, { question: { key, offered, call }, readOwn }))
        : await readOwn();
      if (!found) throw new ApiError("WORKER_NOT_FOUND", `The worker ${JSON.stringify(worker)} is not installed.`);
      return found;
    },
    sparklines: async ({ query: { instance }, principal, key }) => {
      const readOwn = () => history.sparklines((name) => namespacesCover(principal.namespaces, name));
      if (!asksOthers(instances, instance)) return readOwn();
      const answers = await collectAnswers(instances, instance, { question: { key, offered, call: askSparklines }, readOwn });
      return mergeSparklines(resultsOf(answers), { isPartial: hasProblem(answers) });
    },
  };
}

async function askSparklines(client: MetricsClient): Promise<Sparkline[]> {
  return client.metrics.sparklines({ query: { instance: "self" } });
}

/** Returns the metrics of this daemon. */
async function readMetrics(
  metrics: MetricsPort,
  query: { readonly worker?: string | undefined; readonly detail: "workers" | "totals" },
  principal: Principal,
): Promise<ShownMetrics> {
  const isWanted = (name: string) => (query.worker === undefined || query.worker === name) && namespacesCover(principal.namespaces, name);
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
}

/** Adds up the metrics of all daemons that gave a response. The first answer has a result, so `daemon` is the block of this daemon. */
function toMergedMetrics(answers: readonly ListedAnswer<ShownMetrics>[]): ShownMetrics {
  const results = resultsOf(answers);
  return {
    daemon: (results[0] as ShownMetrics).daemon,
    ...mergeMetrics(results),
    instances: answers.map(({ instance: { name, id }, answer }) => ({
      name,
      id,
      ...("result" in answer ? { daemon: answer.result.daemon, totals: answer.result.totals } : { problem: answer.problem }),
    })),
  };
}

/** Adds up the histories of all daemons that have the worker. Returns undefined if no daemon has it. */
function toMergedHistory(answers: readonly ListedAnswer<MetricsHistory | undefined>[]): MetricsHistory | undefined {
  const [first, ...others] = answers.flatMap(({ instance, answer }) =>
    "result" in answer && answer.result ? [{ instance: instance.name, history: answer.result }] : [],
  );
  if (!first) return undefined;
  return { ...mergeHistories([first, ...others], { isPartial: hasProblem(answers) }), instances: toListedInstances(answers) };
}

function resultsOf<Result>(answers: readonly ListedAnswer<Result>[]): Result[] {
  return answers.flatMap(({ answer }) => ("result" in answer ? [answer.result] : []));
}

function hasProblem(answers: readonly ListedAnswer<unknown>[]): boolean {
  return answers.some(({ answer }) => "problem" in answer);
}

/** Returns undefined for the error of a daemon that does not have the worker. */
function withoutMissingWorker(error: unknown): undefined {
  if (error instanceof ApiError && error.code === "WORKER_NOT_FOUND") return undefined;
  throw error;
}

function isRestricted(principal: Principal): boolean {
  return !principal.namespaces.includes("*");
}
