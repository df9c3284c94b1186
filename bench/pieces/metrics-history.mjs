import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { limitRow } from "../support/rows.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "cost of the metrics history";

const workerCount = 100;

/**
 * Compares the same worker on two daemons, with and without the metrics history. Then measures the size of one worker's history on the
 * disk.
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
  return [...rows, limitRow({ work, value, atMost: 200, unit: "B" })];
}
