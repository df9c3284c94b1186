import path from "node:path";
import { expect } from "vitest";
import { uploadOf } from "./connect.js";
import { manifestOf, packFiles } from "./pack-files.js";
import type { SmallDisk } from "./small-disk.js";
import { startInstances, type TestInstance } from "./start-instances.js";
import { startRegistry, type TestRegistry } from "./start-registry.js";
import { startSqld, type Sqld } from "./start-sqld.js";

/** Longest time in ms until another daemon serves a change, with the interval of 100 ms below and time for a slow machine. */
export const soonMs = 20_000;
/** Time limit in ms of a test that starts several daemons. */
export const clusterTestMs = 240_000;

/** Daemons with directories of their own, which share a registry and a primary. */
export interface OciInstances {
  readonly registry: TestRegistry;
  readonly sqld: Sqld;
  /** Starts a daemon, or starts the earlier daemon with this name again. */
  readonly start: (name: string, variables?: Record<string, string>) => Promise<TestInstance>;
  readonly workersOf: (name: string) => string;
  readonly dispose: () => Promise<void>;
}

/** With `disk`, the registry stores its data there. */
export async function startOciInstances(options: { disk?: SmallDisk } = {}): Promise<OciInstances> {
  const [sqld, registry, instances] = await Promise.all([startSqld(), startRegistry(options), startInstances()]);
  const workersOf = (name: string) => path.join(instances.directory, name, "workers");
  return {
    registry,
    sqld,
    workersOf,
    start(name, variables = {}) {
      return instances.start(name, {
        RUNTIME_AUTH_DB_MODE: "sync",
        RUNTIME_AUTH_DB_SYNC_URL: sqld.url,
        RUNTIME_AUTH_DB_SYNC_INTERVAL: "100ms",
        RUNTIME_PACKAGE_STORE: `oci:${registry.url}/team/runtimed`,
        ...variables,
      });
    },
    async dispose() {
      await instances.dispose();
      await Promise.all([sqld.dispose(), registry.dispose()]);
    },
  };
}

/** Uploads a worker that responds with a text. */
export async function uploadText({ client }: TestInstance, name: string, version: string, text: string): Promise<void> {
  const app = `export default { fetch: () => new Response(${JSON.stringify(text)}) };`;
  const archive = await packFiles({ "index.js": app, "manifest.yaml": manifestOf(name, version) });
  await client.workers.upload({ file: uploadOf("package.tgz", archive) });
}

/** Returns the text of a worker, or the status of an error. */
export async function readText({ url }: TestInstance, name: string): Promise<string | number> {
  const response = await fetch(`${url}/${name}/`);
  const text = await response.text();
  return response.ok ? text : response.status;
}

/** Expects that a worker responds with a text or a status soon. */
export async function expectSoon(daemon: TestInstance, name: string, expected: string | number): Promise<void> {
  await expect.poll(() => readText(daemon, name), { timeout: soonMs, interval: 50 }).toBe(expected);
}
