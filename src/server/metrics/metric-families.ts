import type { DaemonMetrics, PluginMetrics } from "../../shared/contract/metrics.js";
import { statusClasses, type WorkerReading } from "./worker-reading.js";

export interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Labels in addition to `labels`. Several values can share this object. */
  readonly sharedLabels?: Readonly<Record<string, string>>;
  /** Name of a series in a histogram, with the suffix `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

/** One metric of Prometheus. `valuesOf` returns the values of the metric for a subject, such as a worker version. */
export interface MetricFamily<Subject> {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  valuesOf(subject: Subject): MetricValue[];
}

/** Metrics of one worker version. `sharedLabels` contains the labels `worker` and `version`. */
export interface LabelledReading extends WorkerReading {
  readonly sharedLabels: Readonly<Record<string, string>>;
}

const bucketBoundsMs = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 400, 1600, 6400, 25_600];
const durationName = "runtimed_worker_request_duration_seconds";

export const workerFamilies: readonly MetricFamily<LabelledReading>[] = [
  {
    name: "runtimed_worker_requests_total",
    help: "Completed requests, by class of status; aborted: the client disconnected before the response.",
    type: "counter",
    valuesOf: ({ meter, sharedLabels }) =>
      statusClasses.flatMap(([digit, code]) => {
        const value = meter.countOf(digit);
        return value === 0 ? [] : [{ labels: { code }, sharedLabels, value }];
      }),
  },
  workerCounter(
    "failed_requests_total",
    "Requests with a status of 500 or above, or with an incomplete response.",
    ({ meter }) => meter.latency.failedCount,
  ),
  {
    name: "runtimed_worker_errors_total",
    help: "Requests to which the daemon responded with an error, by code.",
    type: "counter",
    valuesOf: ({ meter, sharedLabels }) => [...meter.errors].map(([error, value]) => ({ labels: { error }, sharedLabels, value })),
  },
  { name: durationName, help: "Time from the head of a request to the end of its response.", type: "histogram", valuesOf: durationValues },
  workerGauge("requests_in_flight", "Requests without a complete response.", ({ meter }) => meter.inFlightCount),
  workerGauge("requests_queued", "Requests that wait for an isolate.", ({ currentLoad }) => currentLoad?.queued),
  {
    name: "runtimed_worker_isolates",
    help: "Isolates by state.",
    type: "gauge",
    valuesOf: ({ currentLoad, sharedLabels }) =>
      currentLoad?.kind === "module"
        ? (["running", "starting", "draining"] as const).map((state) => ({ labels: { state }, sharedLabels, value: currentLoad[state] }))
        : [],
  },
  {
    name: "runtimed_worker_memory_bytes",
    help: "Memory of all isolates of the worker: rss counts shared memory in each isolate, pss divides it among them.",
    type: "gauge",
    valuesOf: ({ currentLoad, rssBytes, pssBytes, sharedLabels }) => {
      if (!currentLoad || currentLoad.pids.length === 0) return [];
      const values = [{ labels: { kind: "rss" }, sharedLabels, value: rssBytes }];
      return pssBytes === undefined ? values : [...values, { labels: { kind: "pss" }, sharedLabels, value: pssBytes }];
    },
  },
  workerCounter(
    "cpu_seconds_total",
    "CPU time of the isolates of the worker, up to the last sample before their end.",
    ({ currentLoad, cpuSeconds }) => (currentLoad?.kind === "module" ? cpuSeconds : undefined),
  ),
  workerCounter(
    "request_body_bytes_total",
    "Bytes of request bodies that were received.",
    ({ meter }) => meter.requestBodyBytes || undefined,
  ),
  workerCounter(
    "answer_body_bytes_total",
    "Bytes of response bodies that isolates sent.",
    ({ meter }) => meter.responseBodyBytes || undefined,
  ),
  workerGauge("open_sockets", "Open WebSockets.", ({ currentLoad }) => currentLoad?.openSockets || undefined),
];

export const daemonFamilies: readonly MetricFamily<DaemonMetrics>[] = [
  daemonMetric("info", "gauge", "Version of the daemon and of Node.js.", ({ version }) => [{ labels: { version }, value: 1 }]),
  daemonMetric("start_time_seconds", "gauge", "Start of the daemon, in Unix time.", ({ startedAt }) => [{ labels: {}, value: startedAt }]),
  daemonMetric("event_loop_lag_seconds", "gauge", "Delay of timers during about the last minute.", ({ eventLoopLag }) => [
    { labels: { quantile: "0.5" }, value: eventLoopLag.p50Ms / 1000 },
    { labels: { quantile: "0.99" }, value: eventLoopLag.p99Ms / 1000 },
    { labels: { quantile: "1" }, value: eventLoopLag.maximumMs / 1000 },
  ]),
  daemonMetric("client_connections", "gauge", "Connected clients.", ({ process }) =>
    process ? [{ labels: {}, value: process.connections }] : [],
  ),
  daemonMetric("isolate_pool_size", "gauge", "Maximum number of isolates with an app.", ({ isolatePool }) =>
    isolatePool ? [{ labels: {}, value: isolatePool.size }] : [],
  ),
  daemonMetric("isolates", "gauge", "Isolates by state; waiting: starts that wait for a free place.", ({ isolatePool }) =>
    isolatePool
      ? (["used", "starting", "blank", "waiting"] as const).map((state) => ({ labels: { state }, value: isolatePool[state] }))
      : [],
  ),
  daemonMetric("uploads_total", "counter", "Completely received uploads, by result.", ({ uploads }) =>
    uploads ? (["installed", "failed"] as const).map((result) => ({ labels: { result }, value: uploads[result] })) : [],
  ),
  daemonMetric("uploads_running", "gauge", "Uploads that are being installed.", ({ uploads }) =>
    uploads ? [{ labels: {}, value: uploads.running }] : [],
  ),
  daemonMetric("keys", "gauge", "Keys that are not revoked.", ({ keyStore }) => (keyStore ? [{ labels: {}, value: keyStore.keys }] : [])),
  daemonMetric("key_store_usable", "gauge", "1: the key store can be written.", ({ keyStore }) =>
    keyStore ? [{ labels: {}, value: Number(keyStore.isUsable) }] : [],
  ),
  daemonMetric(
    "key_replica_lag_seconds",
    "gauge",
    "Time since the replica was last known to have all keys of its primary; +Inf if it never was.",
    ({ keyStore }) => (keyStore?.replica ? [{ labels: {}, value: keyStore.replica.lagSeconds ?? Infinity }] : []),
  ),
  daemonMetric("key_replica_failed_syncs_total", "counter", "Failed requests to the primary of the key store.", ({ keyStore }) =>
    keyStore?.replica ? [{ labels: {}, value: keyStore.replica.failedSyncs }] : [],
  ),
  daemonMetric("key_replica_renewals_total", "counter", "Number of times that the replica was deleted and fetched again.", ({ keyStore }) =>
    keyStore?.replica ? [{ labels: {}, value: keyStore.replica.renewals }] : [],
  ),
  daemonMetric("events_total", "counter", "Events that were published to event streams.", ({ events }) =>
    events ? [{ labels: {}, value: events.published }] : [],
  ),
  daemonMetric("event_followers", "gauge", "Open event streams.", ({ events }) =>
    events ? [{ labels: {}, value: events.followers }] : [],
  ),
  daemonMetric(
    "audit_entries_total",
    "counter",
    "Entries of the audit log; skipped: attempts above the limit, and entries that could not be written.",
    ({ auditLog }) =>
      auditLog ? (["written", "skipped"] as const).map((result) => ({ labels: { result }, value: auditLog[result] })) : [],
  ),
  daemonMetric("audit_entries_waiting", "gauge", "Entries of the audit log that are not on disk yet.", ({ auditLog }) =>
    auditLog ? [{ labels: {}, value: auditLog.waiting }] : [],
  ),
  daemonMetric("unknown_path_requests_total", "counter", "Requests whose path matches no installed worker.", ({ unknownPathRequests }) =>
    unknownPathRequests === undefined ? [] : [{ labels: {}, value: unknownPathRequests }],
  ),
];

/**
 * Returns one metric for each counter name, with the values of all plugins that have this counter. The help text is that of the first
 * plugin.
 */
export function pluginFamilies(plugins: readonly PluginMetrics[]): MetricFamily<PluginMetrics>[] {
  const helps = new Map<string, string>();
  for (const { name, help } of plugins.flatMap(({ counters }) => counters)) if (!helps.has(name)) helps.set(name, help);
  return [...helps].map(([name, help]) => ({
    name: `runtimed_plugin_${name}_total`,
    help,
    type: "counter",
    valuesOf: ({ plugin, counters }) =>
      counters
        .filter((counter) => counter.name === name)
        .flatMap(({ values }) => values.map(({ labels, value }) => ({ labels, sharedLabels: { plugin }, value }))),
  }));
}

function durationValues({ meter: { latency, endedCount }, sharedLabels }: LabelledReading): MetricValue[] {
  const counts = latency.countsBelow(bucketBoundsMs);
  const bucket = (le: string, value: number): MetricValue => ({
    metricName: `${durationName}_bucket`,
    labels: { le },
    sharedLabels,
    value,
  });
  return [
    ...bucketBoundsMs.map((boundMs, index) => bucket(String(boundMs / 1000), counts[index] as number)),
    bucket("+Inf", endedCount),
    { metricName: `${durationName}_sum`, labels: {}, sharedLabels, value: latency.sumMs / 1000 },
    { metricName: `${durationName}_count`, labels: {}, sharedLabels, value: endedCount },
  ];
}

type ReadValue = (reading: LabelledReading) => number | undefined;

function workerGauge(name: string, help: string, read: ReadValue): MetricFamily<LabelledReading> {
  return workerMetric({ name, help, type: "gauge", read });
}

function workerCounter(name: string, help: string, read: ReadValue): MetricFamily<LabelledReading> {
  return workerMetric({ name, help, type: "counter", read });
}

/** Returns a metric that has one value per worker version. If `read` returns undefined for a version, the metric omits this version. */
function workerMetric(metric: { name: string; help: string; type: "counter" | "gauge"; read: ReadValue }): MetricFamily<LabelledReading> {
  return {
    name: `runtimed_worker_${metric.name}`,
    help: metric.help,
    type: metric.type,
    valuesOf: (reading) => {
      const value = metric.read(reading);
      return value === undefined ? [] : [{ labels: {}, sharedLabels: reading.sharedLabels, value }];
    },
  };
}

function daemonMetric(
  name: string,
  type: "counter" | "gauge",
  help: string,
  valuesOf: (daemon: DaemonMetrics) => MetricValue[],
): MetricFamily<DaemonMetrics> {
  return { name: `runtimed_${name}`, help, type, valuesOf };
}
