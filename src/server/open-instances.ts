import type { KeyStore } from "./access/key-store.js";
import type { Config } from "./config/config.js";
import { eventOfOtherDaemon, type RuntimeEvents } from "./events/runtime-events.js";
import { InstanceClient } from "./instances/instance-client.js";
import type { InstanceRegistry } from "./instances/instance-registry.js";
import { MergedStreams } from "./instances/merged-streams.js";
import { Signals, type Signal } from "./instances/signals.js";
import type { Log } from "./log/log.js";
import type { WorkerPackages } from "./packages/worker-packages.js";
import type { Plugins } from "./plugins/plugins.js";
import type { WorkerEngine } from "./workers/engine/worker-engine.js";
import { namespacesCover } from "../shared/namespace.js";

/** The daemons with the same primary. */
export interface Instances {
  readonly registry: InstanceRegistry;
  readonly client: InstanceClient;
  readonly streams: MergedStreams;
  /** Undefined without a primary. */
  readonly signals: Signals | undefined;
  readonly close: () => Promise<void>;
}

interface InstancesOptions {
  readonly registry: InstanceRegistry;
  readonly store: KeyStore;
  readonly packages: WorkerPackages;
  readonly engine: WorkerEngine;
  readonly plugins: Plugins;
  readonly events: RuntimeEvents;
  readonly log: Log;
}

/** Registers this daemon, and carries out the signals of other daemons from now on. */
export function openInstances({ primary }: Config, options: InstancesOptions): Instances {
  const { registry, store, log } = options;
  const client = new InstanceClient(registry.own.url);
  const signals = primary
    ? new Signals({
        records: store.records,
        run: registry.own.run,
        nowMs: () => store.leases.nowMs(),
        countOthers: async () => (await registry.readLive({ maximumAgeMs: 0 })).length,
        onSignal: (signal) => carryOut(signal, options),
        log,
      })
    : undefined;
  registry.start();
  const close = async () => {
    registry.close();
    signals?.close();
    await client.close();
  };
  return { registry, client, streams: new MergedStreams(), signals, close };
}

/**
 * Carries out a restart or reload that another daemon has already carried out. A worker version that is not installed on this daemon needs
 * no restart.
 */
async function carryOut(signal: Signal, { packages, engine, plugins, events }: InstancesOptions): Promise<void> {
  if (signal.type === "reload-plugins") {
    await plugins.reload({ isFresh: (name) => namespacesCover(signal.namespaces, name) });
    events.publish(eventOfOtherDaemon({ type: "plugin.reloaded" }));
    return;
  }
  const { name, version } = signal;
  if (!packages.isInstalled(name, version)) return;
  await engine.restart(packages.folderOf(name, version));
  events.publish(eventOfOtherDaemon({ type: "worker.restarted", subject: { name, version } }));
}
