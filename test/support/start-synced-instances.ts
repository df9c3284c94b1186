import { freePort } from "./free-port.js";
import { startInstances, type TestInstance } from "./start-instances.js";
import { startSqld, type Sqld } from "./start-sqld.js";

/** Daemons with directories of their own, which share a primary and can call each other. */
export interface SyncedInstances {
  readonly sqld: Sqld;
  /** Starts a daemon, or starts the earlier daemon with this name again at the same address. */
  readonly start: (name: string, variables?: Record<string, string>) => Promise<TestInstance>;
  readonly dispose: () => Promise<void>;
}

export async function startSyncedInstances(): Promise<SyncedInstances> {
  const [sqld, instances] = await Promise.all([startSqld(), startInstances()]);
  const ports = new Map<string, number>();
  return {
    sqld,
    async start(name, variables = {}) {
      const port = ports.get(name) ?? (await freePort());
      ports.set(name, port);
      return instances.start(name, {
        PORT: String(port),
        RUNTIME_AUTH_DB_MODE: "sync",
        RUNTIME_AUTH_DB_SYNC_URL: sqld.url,
        RUNTIME_AUTH_DB_SYNC_INTERVAL: "100ms",
        RUNTIME_INSTANCE_NAME: name,
        RUNTIME_INSTANCE_URL: `http://127.0.0.1:${port}`,
        ...variables,
      });
    },
    async dispose() {
      await instances.dispose();
      await sqld.dispose();
    },
  };
}
