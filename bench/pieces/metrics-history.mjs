import { mkdir, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { loadHistoryCode } from "../../scripts/pictures/sample-history.mjs";
import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { rssBytes } from "../support/memory.mjs";
import { prepareInspector } from "../support/retained-memory.mjs";
import { limitRow } from "../support/rows.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "cost of the metrics history";

const workerCount = 100;
const activeWorkers = 2_000;
/** Number of rows per worker that the history keeps in memory before it moves them to the disk. */
const minutesInMemory = 410;
/** In this time each daemon samples its workers at least once. */
const sampleMs = 70_000;
const megabyte = 1024 ** 2;

/**
 * Compares the same worker on two daemons, with and without the metrics history. Then measures the size of one worker's history on the
 * disk, and the retained memory of the history of 2,000 active workers.
 */
export async function run(stage) {
  const ok = await workerOf("ok.js");
  const workers = Object.fromEntries(Array.from({ length: workerCount }, (_, number) => [`worker-${number}`, ok]));
  const on = await startDaemon(stage, { workers });
  const off = await startDaemon(stage, { workers, env: { RUNTIME_METRICS_HISTORY_SIZE: "0" } });
  const sides = { ours: { url: `${on.url}/worker-0/` }, theirs: { url: `${off.url}/worker-0/` } };
  for (const side of Object.values(sides)) await expectAnswer(side.url, { text: "ok" });
  const row = {
    work: "warm with the metrics history, 32 connections",
    against: "RUNTIME_METRICS_HISTORY_SIZE=0",
    target: { atLeast: 0.97 },
  };
  const rows = await compareLoad(stage, row, sides);
  for (const worker of Object.keys(workers)) await expectAnswer(`${on.url}/${worker}/`, { text: "ok" });
  await Promise.all([on.stop(), off.stop()]);
  const folder = path.join(on.directory, "state", "metrics-history");
  const sizes = await Promise.all((await readdir(folder)).map(async (file) => (await stat(path.join(folder, file))).size));
  const value = sizes.reduce((sum, size) => sum + size, 0) / workerCount;
  const work = `history on the disk, per worker with requests in one minute (${workerCount} workers)`;
  const memory = { work: `retained memory of the history of ${activeWorkers} active workers, beside a daemon without history`, unit: "MB" };
  return [...rows, limitRow({ work, value, atMost: 200, unit: "B" }), limitRow({ ...memory, ...(await measureMemory(stage)), atMost: 64 })];
}

/**
 * Returns as `value` the retained memory in MB that a daemon with the history of 2,000 active workers has more than a daemon without history.
 * `note` has the resident memory, which includes garbage that is not collected yet.
 */
async function measureMemory(stage) {
  const site = { files: { "index.html": "ok" } };
  const names = Array.from({ length: activeWorkers }, (_, number) => `site-${number}`);
  const workers = Object.fromEntries(names.map((each) => [each, site]));
  const directory = await stage.temporaryDirectory();
  await writeHistory(path.join(directory, "state", "metrics-history"), names);
  const inspectors = [await prepareInspector(), await prepareInspector()];
  const [nodeFlags, nodeFlagsOff] = inspectors.map(({ flags }) => flags);
  const daemons = [
    await startDaemon(stage, { workers, directory, nodeFlags }),
    await startDaemon(stage, { workers, nodeFlags: nodeFlagsOff, env: { RUNTIME_METRICS_HISTORY_SIZE: "0" } }),
  ];
  for (const { url } of daemons) for (const each of names) await expectAnswer(`${url}/${each}/`, { text: "ok" });
  await delay(sampleMs);
  const resident = daemons.map(({ pid }) => rssBytes(pid) / megabyte);
  const retained = await Promise.all(daemons.map(async ({ pid }, index) => (await inspectors[index].read(pid)) / megabyte));
  await Promise.all(daemons.map((daemon) => daemon.stop()));
  return {
    value: retained[0] - retained[1],
    note: `Heap and buffers of the daemon after a garbage collection: ${describe(retained)}. Resident memory before it: ${describe(resident)}.`,
  };
}

function describe([on, off]) {
  return `${on.toFixed(1)} MB with history, ${off.toFixed(1)} MB without`;
}

async function writeHistory(folder, names) {
  const { HistoryFiles, encodeRow } = await loadHistoryCode();
  await mkdir(folder, { recursive: true });
  const files = new HistoryFiles(folder);
  await files.readJournal();
  const now = Math.floor(Date.now() / 60_000);
  const figures = { requests: 100, failed: 1, p50Ms: 3, p99Ms: 9, memoryKilobytes: 20_000, cpuSeconds: 0.2, isolates: 1 };
  const rows = Array.from({ length: minutesInMemory }, (_, index) => encodeRow({ ...figures, slot: now - minutesInMemory + index }));
  await files.append(names.map((each) => ({ kind: "rows", name: each, stepSeconds: 60, rows: Buffer.concat(rows) })));
}
