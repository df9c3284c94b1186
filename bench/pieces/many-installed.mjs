import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { alternate } from "../support/rounds.mjs";
import { durationRow } from "../support/rows.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "2,000 installed workers";

const workerCount = 2000;
const fewWorkers = 10;

export async function run(stage) {
  const directories = { ours: await prepare(stage, workerCount), theirs: await prepare(stage, fewWorkers) };
  const start = async (directory) => {
    const daemon = await startUntilReady(stage, directory);
    await daemon.stop();
    return daemon.readyMs;
  };
  const { ours, theirs } = await alternate(Math.max(stage.settings.rounds, 3), {
    ours: () => start(directories.ours),
    theirs: () => start(directories.theirs),
  });
  const work = `start to ready with ${workerCount.toLocaleString("en-US")} installed workers`;
  const rows = [durationRow({ work, against: `start with ${fewWorkers}`, target: { atMost: 1.5 } }, ours, theirs)];
  return [...rows, ...(await compareLists(stage, directories.ours))];
}

/**
 * Creates a home with `count` workers. Starts the daemon once before the measurement, so that both sides find their files in the page
 * cache.
 */
async function prepare(stage, count) {
  const app = await workerOf("ok.js");
  const workers = Object.fromEntries(Array.from({ length: count }, (_, index) => [`app-${index}`, app]));
  const daemon = await startDaemon(stage, { workers });
  await daemon.stop();
  return daemon.directory;
}

async function startUntilReady(stage, directory) {
  const startedAtMs = performance.now();
  const daemon = await startDaemon(stage, { directory });
  while (!(await fetch(`${daemon.url}/api/health/ready`)).ok) await delay(1);
  return { ...daemon, readyMs: performance.now() - startedAtMs };
}

async function compareLists(stage, directory) {
  const daemon = await startUntilReady(stage, directory);
  const { headers } = daemon;
  const ours = { url: `${daemon.url}/api/workers`, headers };
  const text = await (await fetch(ours.url, { headers })).text();
  if (JSON.parse(text).length < workerCount) throw new Error(`the list has ${JSON.parse(text).length} workers`);
  const file = path.join(directory, "list.json");
  await writeFile(file, text);
  const peer = await startPeer(stage, "koa.mjs", file);
  for (const { url } of [ours, peer]) await expectAnswer(url, { text, headers });
  const kilobytes = Math.round(Buffer.byteLength(text) / 1024);
  const row = {
    work: `GET /api/workers with ${workerCount.toLocaleString("en-US")} workers, 32 connections`,
    against: `a Koa route sending the same ${kilobytes} KB`,
    target: { atLeast: 0.7 },
  };
  return await compareLoad(stage, row, { ours, theirs: { url: peer.url, headers }, target: { leastBytes: text.length } });
}
