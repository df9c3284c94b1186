import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Client } from "../../src/shared/client.js";
import { connect } from "./connect.js";
import { startDaemon, type TestDaemon } from "./start-daemon.js";

export interface TestInstance extends TestDaemon {
  readonly client: Client;
}

/** Daemons with directories of their own. */
export interface TestInstances {
  /** Contains one folder for each daemon. The name of the folder is the name of the daemon. */
  readonly directory: string;
  /** Starts another daemon. With the name of an earlier daemon, starts this daemon again. */
  readonly start: (name: string, env?: Record<string, string>) => Promise<TestInstance>;
  /** Ends all daemons and deletes all files. */
  readonly dispose: () => Promise<void>;
}

export async function startInstances(): Promise<TestInstances> {
  const directory = await mkdtemp(path.join(tmpdir(), "instances-"));
  const started: TestInstance[] = [];
  return {
    directory,
    async start(name, env = {}) {
      const own = path.join(directory, name);
      await mkdir(own, { recursive: true });
      const daemon = await startDaemon({ directory: own, env });
      const instance = { ...daemon, client: connect(daemon.url, daemon.rootKey) };
      started.push(instance);
      return instance;
    },
    async dispose() {
      await Promise.all(started.map((instance) => instance.kill()));
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
