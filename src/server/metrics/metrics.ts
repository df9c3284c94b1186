import type { DaemonMetrics, PluginMetrics } from "../../shared/contract/metrics.js";
import type { KeyStoreState } from "../access/key-store.js";
import { packageVersion } from "../package-root.js";
import type { PoolNumbers } from "../workers/isolates/isolate-pool.js";
import type { WorkerMeter, WorkerNumbers } from "../workers/engine/worker-meter.js";
import { CpuAccount, EventLoopLag, ProcessSampler, type ProcessSample } from "./process-stats.js";
import type { PluginCounters } from "./plugin-counters.js";
import type { UploadMeter } from "./upload-meter.js";
import type { WorkerReading } from "./worker-reading.js";

/** The services from which `Metrics` reads. */
export interface MetricsSources {
  readonly engine: { numbers(): WorkerNumbers[]; readonly poolNumbers: PoolNumbers; readonly unknownPathCount: number };
  readonly uploads: UploadMeter;
  readonly pluginCounters: PluginCounters;
  readonly events: { readonly publishedCount: number; readonly followerCount: number };
  readonly audit: { readonly counts: NonNullable<DaemonMetrics["auditLog"]> };
  readonly store: { readonly keyCount: number; readState(): KeyStoreState };
  readonly connectionCount: () => number;
}

/** Reads the metrics of the workers, plugins and daemon on request. */
export class Metrics {
  readonly #sources: MetricsSources;
  readonly #lag = new EventLoopLag();
  readonly #sampler = new ProcessSampler();
  readonly #cpuAccounts = new WeakMap<WorkerMeter, CpuAccount>();

  constructor(sources: MetricsSources) {
    this.#sources = sources;
  }

  /** Returns the metrics of all matching workers that have received requests, sorted by name and version. */
  async workers(isWanted: (name: string) => boolean): Promise<WorkerReading[]> {
    const pids = this.#numbers(isWanted).flatMap(({ currentLoad }) => currentLoad?.pids ?? []);
    const samples = await this.#sampler.sample(pids);
    // Reads the request counts only after the process samples, which take time. All counts are then from the same time, and isolates that
    // have exited are not included.
    return this.#numbers(isWanted).map(({ meter, currentLoad }) => this.#reading(meter, currentLoad, samples));
  }

  /** Returns the metrics of the daemon. If `isRestricted` is true, omits the metrics that include workers of other namespaces. */
  daemon(isRestricted: boolean): DaemonMetrics {
    const uptimeSeconds = process.uptime();
    const harmless = {
      version: packageVersion,
      startedAt: Math.floor(Date.now() / 1000 - uptimeSeconds),
      uptimeSeconds,
      eventLoopLag: this.#lag.read(),
    };
    if (isRestricted) return harmless;
    const { engine, uploads, events, audit, store } = this.#sources;
    return {
      ...harmless,
      process: this.#process(),
      isolatePool: engine.poolNumbers,
      uploads: { running: uploads.runningCount, installed: uploads.installedCount, failed: uploads.failedCount },
      unknownPathRequests: engine.unknownPathCount,
      keyStore: keyStoreNumbers(store.keyCount, store.readState()),
      events: { published: events.publishedCount, followers: events.followerCount },
      auditLog: audit.counts,
    };
  }

  /**
   * Returns the counters of plugins. If `isRestricted` is true, returns an empty list, because labels can contain names from other
   * namespaces.
   */
  plugins(isRestricted: boolean): PluginMetrics[] {
    return isRestricted ? [] : this.#sources.pluginCounters.read();
  }

  close(): void {
    this.#lag.close();
  }

  #numbers(isWanted: (name: string) => boolean): WorkerNumbers[] {
    const wanted = this.#sources.engine.numbers().filter(({ meter }) => isWanted(meter.name));
    return wanted.toSorted((a, b) => compare(a.meter.name, b.meter.name) || compare(a.meter.version ?? "", b.meter.version ?? ""));
  }

  #reading(meter: WorkerMeter, currentLoad: WorkerNumbers["currentLoad"], samples: ReadonlyMap<number, ProcessSample>): WorkerReading {
    const pids = currentLoad?.pids ?? [];
    const sampled = pids.flatMap((pid) => samples.get(pid) ?? []);
    let account = this.#cpuAccounts.get(meter);
    if (!account) this.#cpuAccounts.set(meter, (account = new CpuAccount()));
    return {
      meter,
      currentLoad,
      rssBytes: sampled.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
      pssBytes: sampled.some(({ pssBytes }) => pssBytes === undefined)
        ? undefined
        : sampled.reduce((sum, { pssBytes }) => sum + (pssBytes ?? 0), 0),
      cpuSeconds: account.update(pids, samples),
    };
  }

  #process(): NonNullable<DaemonMetrics["process"]> {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return {
      rssBytes: rss,
      heapUsedBytes: heapUsed,
      heapTotalBytes: heapTotal,
      externalBytes: external,
      cpuSeconds: (user + system) / 1e6,
      handles: process.getActiveResourcesInfo().length,
      connections: this.#sources.connectionCount(),
    };
  }
}

function keyStoreNumbers(keys: number, { isWritable, replica }: KeyStoreState): NonNullable<DaemonMetrics["keyStore"]> {
  if (!replica) return { keys, isUsable: isWritable };
  const { lagSeconds = null, failedSyncs, renewals } = replica;
  return { keys, isUsable: isWritable, replica: { lagSeconds, failedSyncs, renewals } };
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
