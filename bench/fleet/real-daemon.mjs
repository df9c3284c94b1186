import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { startDaemon } from "../support/daemon.mjs";
import { childrenOf, pssBytes, rssBytes } from "../support/memory.mjs";
import { cpuMs } from "../support/processor-time.mjs";
import { waitForOutput } from "../support/server.mjs";

const heapReader = new URL("heap-reader.mjs", import.meta.url).href;
/** Longest time in ms until a daemon is ready. */
const readyTimeoutMs = 300_000;
/** Time after which a ready daemon has ended the work of its start. */
const quietMs = 5_000;

/** Starts the real program with its own directories. Resolves when it is ready. `readyMs` is the time from the start of the process. */
export async function startReadyDaemon(stage, { directory, primaryUrl, registryUrl, nodeFlags = [] }) {
  const startedAtMs = performance.now();
  const env = {
    RUNTIME_AUTH_DB_MODE: "sync",
    RUNTIME_AUTH_DB_SYNC_URL: primaryUrl,
    RUNTIME_PACKAGE_STORE: `oci:${registryUrl}/fleet/runtimed`,
  };
  const daemon = await startDaemon(stage, { directory, env, nodeFlags, startTimeoutMs: readyTimeoutMs });
  while (!(await fetch(`${daemon.url}/api/health/ready`)).ok) {
    if (performance.now() - startedAtMs > readyTimeoutMs) throw new Error("the daemon is not ready");
    await delay(2);
  }
  return { ...daemon, readyMs: performance.now() - startedAtMs };
}

/** Measures the start of a daemon that has no files, and that of a daemon that has its replica but no packages. */
export async function measureRealDaemon(stage, sources) {
  const directory = await stage.temporaryDirectory();
  const first = await startReadyDaemon(stage, { directory, ...sources });
  const firstCpuMs = cpuMs(first.pid);
  await first.stop();
  const second = await startReadyDaemon(stage, { directory, ...sources, nodeFlags: ["--expose-gc", "--import", heapReader] });
  const secondCpuMs = cpuMs(second.pid);
  await delay(quietMs);
  const heap = waitForOutput(second.child, /^heap (\d+)$/m, "the heap reader");
  second.child.kill("SIGUSR2");
  const heapBytes = Number(await heap);
  const memory = { heapBytes, rssBytes: rssBytes(second.pid), syncerBytes: syncerBytes(second.pid) };
  await second.stop();
  return { cold: { readyMs: first.readyMs, cpuMs: firstCpuMs }, warm: { readyMs: second.readyMs, cpuMs: secondCpuMs }, memory };
}

function syncerBytes(pid) {
  const syncers = childrenOf(pid).filter((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("syncer/main.js"));
  return syncers.reduce((sum, child) => sum + pssBytes(child), 0);
}
