import { randomUUID } from "node:crypto";
import path from "node:path";
import { ReplicatedKeyStore } from "../../build/server/access/replica/replicated-key-store.js";
import { InstanceRegistry } from "../../build/server/instances/instance-registry.js";
import { openOwnInstance } from "../../build/server/instances/own-instance.js";
import { pino } from "pino";
import { ArchiveCollector } from "../../build/server/package-store/archive-collector.js";
import { OciPackageStore } from "../../build/server/package-store/oci-package-store.js";
import { OciPluginStore } from "../../build/server/package-store/oci-plugin-store.js";
import { PathClaims } from "../../build/server/package-store/path-claims.js";
import { CronSlots } from "../../build/server/workers/cron-slots.js";

/** Interval at which daemons request changes by default. */
const syncIntervalMs = 1_000;
const log = pino({ level: "silent" });
/** The simulation changes only rows, so no daemon calls the registry. */
const noRegistry = { close: async () => undefined };

/**
 * The parts of a daemon that use the primary: keys, records, the index of packages, its registration and its heartbeats. Has no HTTP
 * server, no catalog and no isolates.
 */
export class SimulatedDaemon {
  #store;
  #registry;
  #slots;
  #collector;
  #plugins;
  claims;
  packages;

  /** Opens the daemon with the state directory `home`. Resolves when it has all rows, as the start of a real daemon does. */
  static async open(home, primaryUrl) {
    const own = await openOwnInstance(
      { stateDirectory: home, instanceName: path.basename(home), instanceUrl: undefined, primary: {} },
      "simulation",
    );
    const store = await ReplicatedKeyStore.open({
      source: { url: primaryUrl, token: undefined, syncIntervalMs },
      stateDirectory: home,
      instance: own,
      onForeignChange: () => undefined,
      onDivergence: () => undefined,
      log,
    });
    return new SimulatedDaemon(store, own);
  }

  constructor(store, own) {
    const { records, leases } = store;
    this.#store = store;
    this.#registry = new InstanceRegistry({ own, records, leases, isShared: true, log });
    this.#collector = new ArchiveCollector({ records, leases, blobs: noRegistry, isShared: true, log });
    this.claims = new PathClaims(records);
    const options = { records, collector: this.#collector, claims: this.claims, log };
    this.packages = new OciPackageStore({ ...options, archives: noRegistry });
    this.#plugins = new OciPluginStore(options);
    this.#slots = new CronSlots({
      leases,
      instanceId: own.id,
      isDraining: () => false,
      onUnknown: () => undefined,
      log,
    });
    this.#registry.start();
    this.#slots.start();
  }

  get records() {
    return this.#store.records;
  }

  get collector() {
    return this.#collector;
  }

  async close() {
    this.#registry.close();
    this.#collector.close();
    await this.#slots.close();
    this.#plugins.close();
    await this.packages.close();
    await this.#store.close();
  }
}

/** Returns the names of the packages of a simulation. The order stays the same. */
export function packageNameOf(index) {
  return `app-${String(index).padStart(6, "0")}`;
}

/** Time in ms on the monotonic clock of the machine, which all processes share. */
export function machineMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Returns a new random digest of an archive. */
export function randomDigest() {
  return `sha256:${(randomUUID() + randomUUID()).replaceAll("-", "")}`;
}
