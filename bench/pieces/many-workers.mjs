import { loadInTurn } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { childrenOf, pssBytes } from "../support/memory.mjs";
import { median } from "../support/rounds.mjs";
import { limitRow, throughputRows } from "../support/rows.mjs";
import { startPeer } from "../support/server.mjs";
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
  const many = await startPeer(stage, "forked-echo.mjs", String(workerCount));
  const one = await startPeer(stage, "forked-echo.mjs", "1");
  for (const { url } of [many, one]) await expectAnswer(url, { text: "ok" });
  const figures = await loadInTurn(stage, {
    many: { url: daemon.url, paths },
    one: { url: daemon.url, paths: paths.slice(0, 1) },
    leastMany: { url: many.url },
    leastOne: { url: one.url },
  });
  const work = `${workerCount} warm workers, round robin, 32 connections`;
  const rows = [
    ...throughputRows({ work, against: "1 warm worker of the same daemon", target: { atLeast: 0.7 } }, figures.many, figures.one),
    ...throughputRows({ work, against: `raw node:http and ${workerCount} processes that echo a byte` }, figures.many, figures.leastMany),
    ...throughputRows(
      { work: `raw node:http and ${workerCount} processes that echo a byte, in turn, 32 connections`, against: "the same with 1 process" },
      figures.leastMany,
      figures.leastOne,
    ),
  ];
  const shares = childrenOf(daemon.pid).map((pid) => pssBytes(pid) / megabyte);
  if (shares.length < workerCount) throw new Error(`only ${shares.length} isolates run`);
  const note = `Proportional set size after the load, median of ${shares.length} isolates; the largest: ${Math.max(...shares).toFixed(1)} MB. The daemon itself: ${(pssBytes(daemon.pid) / megabyte).toFixed(0)} MB.`;
  rows.push(limitRow({ work: `${workerCount} warm workers: memory of each`, value: median(shares), atMost: 14, unit: "MB PSS", note }));
  return rows;
}
