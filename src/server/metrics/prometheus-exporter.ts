import { setImmediate } from "node:timers/promises";
import { collectDefaultMetrics, Registry, type Metric } from "prom-client";
import type { DaemonMetrics, PluginMetrics } from "../../shared/contract/metrics.js";
import { daemonFamilies, pluginFamilies, workerFamilies, type MetricFamily, type MetricValue } from "./metric-families.js";
import type { WorkerReading } from "./worker-reading.js";

/** Number of workers that the exporter writes in one turn of the event loop. The daemon serves requests between two turns. */
const batchSize = 50;

interface Numbers {
  readonly workers: readonly WorkerReading[];
  readonly daemon: DaemonMetrics;
  readonly plugins: readonly PluginMetrics[];
}

/** Writes metrics in the text format of Prometheus. */
export class PrometheusExporter {
  /** Process metrics of prom-client. The collection starts at the first request for metrics. */
  #defaults: Registry | undefined;

  async write(numbers: Numbers): Promise<string> {
    this.#defaults ??= watchProcess();
    const labelled = numbers.workers.map((reading) => ({
      ...reading,
      sharedLabels: { worker: reading.meter.name, version: reading.meter.version ?? "" },
    }));
    const parts: string[] = [];
    for (const family of workerFamilies) parts.push(await writeFamily(family, labelled));
    for (const family of daemonFamilies) parts.push(await writeFamily(family, [numbers.daemon]));
    for (const family of pluginFamilies(numbers.plugins)) parts.push(await writeFamily(family, numbers.plugins));
    // Writes the process metrics only if the key has no namespace restriction.
    if (numbers.daemon.process) parts.push(withStandardNaN(await this.#defaults.metrics()));
    return parts.join("");
  }
}

function watchProcess(): Registry {
  const defaults = new Registry();
  collectDefaultMetrics({ register: defaults, eventLoopMonitoringPrecision: 20 });
  return defaults;
}

/** Returns the text of a metric, or an empty text if the metric has no values. */
async function writeFamily<Subject>(family: MetricFamily<Subject>, subjects: readonly Subject[]): Promise<string> {
  let text = "";
  for (let start = 0; start < subjects.length; start += batchSize) {
    const values = subjects.slice(start, start + batchSize).flatMap((subject) => family.valuesOf(subject));
    if (values.length > 0) {
      const written = await writeValues(family, values);
      text += `${text === "" ? written : withoutHeader(written)}\n`;
    }
    if (start + batchSize < subjects.length) await setImmediate();
  }
  return text;
}

/**
 * Returns the values in the text format of Prometheus. Passes an object with a `get` method to the registry of prom-client in place of a
 * metric.
 */
async function writeValues(family: MetricFamily<never>, values: readonly MetricValue[]): Promise<string> {
  const { name, help, type } = family;
  const registry = new Registry();
  registry.registerMetric({ name, get: () => ({ name, help, type, values }) } as unknown as Metric);
  return registry.getSingleMetricAsString(name);
}

/** Replaces `Nan` by `NaN`. prom-client writes `Nan` before the first sample of the event loop. */
function withStandardNaN(text: string): string {
  return text.replaceAll(/ Nan$/gm, " NaN");
}

/** Returns the lines of a metric without the HELP and TYPE lines, because these lines must appear only once per metric. */
function withoutHeader(text: string): string {
  return text.slice(text.indexOf("\n", text.indexOf("\n") + 1) + 1);
}
