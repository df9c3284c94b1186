import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { childrenOf, pssBytes } from "../support/memory.mjs";
import { median } from "../support/rounds.mjs";
import { limitRow } from "../support/rows.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "200 warm workers";

const workerCount = 200;
const megabyte = 1024 * 1024;

export async function run(stage) {
  const app = await workerOf("ok.js");
  const names = Array.from({ length: workerCount }, (_, index) => `app-${index}`);
  const daemon = await startDaemon(stage, { workers: Object.fromEntries(names.map((worker) => [worker, app])) });
  const paths = names.map((worker) => `/${worker}/`);
  for (const route of paths) await expectAnswer(daemon.url + route, { text: "ok" });
  const row = {
    work: `${workerCount} warm workers, round robin, 32 connections`,
    against: "1 warm worker of the same daemon",
    target: { atLeast: 0.7 },
  };
  const rows = await compareLoad(stage, row, { ours: { url: daemon.url, paths }, theirs: { url: daemon.url, paths: paths.slice(0, 1) } });
  const shares = childrenOf(daemon.pid).map((pid) => pssBytes(pid) / megabyte);
  if (shares.length < workerCount) throw new Error(`only ${shares.length} isolates run`);
  const note = `Proportional set size after the load, median of ${shares.length} isolates; the largest: ${Math.max(...shares).toFixed(1)} MB. The daemon itself: ${(pssBytes(daemon.pid) / megabyte).toFixed(0)} MB.`;
  rows.push(limitRow({ work: `${workerCount} warm workers: memory of each`, value: median(shares), atMost: 14, unit: "MB PSS", note }));
  return rows;
}
