import { loadInTurn } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { childrenOf, spawnedBy, pssBytes } from "../support/memory.mjs";
import { median } from "../support/rounds.mjs";
import { limitRow, throughputRows } from "../support/rows.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "200 warm workers";

const workerCount = 200;
const megabyte = 1024 * 1024;
const manner = "round robin, 32 connections";
/**
 * Warm-up that gives each worker thousands of wake-ups. Only then, V8 compiles the code that runs after a wake-up. A single worker under
 * load reaches this number by itself.
 */
const thorough = { seconds: 80, inARow: 1000, connections: 4 };
const quick = {};

export async function run(stage) {
  const app = await workerOf("ok.js");
  const names = Array.from({ length: workerCount }, (_, index) => `app-${index}`);
  const daemon = await startDaemon(stage, { workers: Object.fromEntries(names.map((worker) => [worker, app])) });
  const echoes = await startPeer(stage, "forked-echo.mjs", String(workerCount));
  const paths = names.map((worker) => `/${worker}/`);
  const echoPaths = names.map((_, index) => `/${index}`);
  const ours = { url: daemon.url, paths };
  const least = { url: echoes.url, paths: echoPaths };
  for (const { url, paths: all } of [ours, least]) for (const route of all) await expectAnswer(url + route, { text: "ok" });

  const started = await loadInTurn(stage, { ours, least });
  const warmUp = stage.settings.isQuick ? quick : thorough;
  const warm = await loadInTurn(stage, {
    many: { ...ours, warmUp },
    one: { ...ours, paths: paths.slice(0, 1) },
    leastMany: { ...least, warmUp },
    leastOne: { ...least, paths: echoPaths.slice(0, 1) },
  });

  const work = `${workerCount} warm workers, ${manner}`;
  const echo = `raw node:http and ${workerCount} processes that echo a byte`;
  return [
    ...throughputRows({ work, against: "1 warm worker of the same daemon", target: { atLeast: 0.7 } }, warm.many, warm.one),
    ...throughputRows({ work, against: echo }, warm.many, warm.leastMany),
    ...throughputRows({ work: `${echo}, ${manner}`, against: "the same with 1 process" }, warm.leastMany, warm.leastOne),
    ...throughputRows({ work: `${workerCount} workers that have just started, ${manner}`, against: echo }, started.ours, started.least),
    memoryRow(daemon),
  ];
}

function memoryRow(daemon) {
  const shares = spawnedBy(daemon.pid).map((pid) => pssBytes(pid) / megabyte);
  const own = [daemon.pid, ...childrenOf(daemon.pid)].map((pid) => (pssBytes(pid) / megabyte).toFixed(0));
  if (shares.length < workerCount) throw new Error(`only ${shares.length} isolates run`);
  const note = `Proportional set size after the load, median of ${shares.length} isolates; the largest: ${Math.max(...shares).toFixed(1)} MB. The daemon and its spawner: ${own.join(" and ")} MB.`;
  return limitRow({ work: `${workerCount} warm workers: memory of each`, value: median(shares), atMost: 14, unit: "MB PSS", note });
}
