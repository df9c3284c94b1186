import { setImmediate } from "node:timers/promises";
import type { Metric, Registry } from "prom-client";
import type { DaemonMetrics, PluginMetrics } from "../../shared/contract/metrics.js";
import { daemonFamilies, pluginFamilies, workerFamilies, type MetricFamily, type MetricValue } from "./metric-families.js";
import type { WorkerReading } from "./worker-reading.js";

/** Workers that are written at once; between such batches requests are served. */
const batchSize = 50;

interface Numbers {
  readonly workers: readonly WorkerReading[];
  readonly daemon: DaemonMetrics;
  readonly plugins: readonly PluginMetrics[];
}

/** Writes numbers in the text format of Prometheus. prom-client is loaded when the first one asks. */
export class Exposition {
  #prometheus: Promise<Prometheus> | undefined;

  async write(numbers: Numbers): Promise<string> {
    this.#prometheus ??= loadPrometheus();
    const prometheus = await this.#prometheus;
    const labelled = numbers.workers.map((reading) => ({
      ...reading,
      sharedLabels: { worker: reading.meter.name, version: reading.meter.version ?? "" },
    }));
    const parts: string[] = [];
    for (const family of workerFamilies) parts.push(await writeFamily(prometheus, family, labelled));
    for (const family of daemonFamilies) parts.push(await writeFamily(prometheus, family, [numbers.daemon]));
    for (const family of pluginFamilies(numbers.plugins)) parts.push(await writeFamily(prometheus, family, numbers.plugins));
    // What Node itself tells about the process is for those who may see all of the daemon.
    if (numbers.daemon.process) parts.push(withStandardNaN(await prometheus.defaults.metrics()));
    return parts.join("");
  }
}

interface Prometheus {
  readonly Registry: typeof Registry;
  /** What Node tells about the process. */
  readonly defaults: Registry;
}

async function loadPrometheus(): Promise<Prometheus> {
  const { default: prometheus } = await import("prom-client");
  const defaults = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: defaults, eventLoopMonitoringPrecision: 20 });
  return { Registry: prometheus.Registry, defaults };
}

/** Nothing when there are no values. */
async function writeFamily<Subject>(prometheus: Prometheus, family: MetricFamily<Subject>, subjects: readonly Subject[]): Promise<string> {
  let text = "";
  for (let start = 0; start < subjects.length; start += batchSize) {
    const values = subjects.slice(start, start + batchSize).flatMap((subject) => family.valuesOf(subject));
    if (values.length > 0) {
      const written = await writeValues(prometheus, family, values);
      text += `${text === "" ? written : withoutHeader(written)}\n`;
    }
    if (start + batchSize < subjects.length) await setImmediate();
  }
  return text;
}

/** A registry takes anything that it can get values from. */
async function writeValues({ Registry }: Prometheus, family: MetricFamily<never>, values: readonly MetricValue[]): Promise<string> {
  const { name, help, type } = family;
  const registry = new Registry();
  registry.registerMetric({ name, get: () => ({ name, help, type, values }) } as unknown as Metric);
  return registry.getSingleMetricAsString(name);
}

/** prom-client writes `Nan` before the event loop was first looked at. */
function withStandardNaN(text: string): string {
  return text.replaceAll(/ Nan$/gm, " NaN");
}

/** The lines after HELP and TYPE, which a metric has once. */
function withoutHeader(text: string): string {
  return text.slice(text.indexOf("\n", text.indexOf("\n") + 1) + 1);
}
