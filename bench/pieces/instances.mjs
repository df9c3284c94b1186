import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";
import { work } from "../workers/work.js";

export const name = "instances: 2";

export async function run(stage) {
  const steps = stepsOfOneMillisecond();
  const manifest = { instances: 2, env: { STEPS: String(steps) } };
  const daemon = await startDaemon(stage, { workers: { app: await workerOf("compute.js", { modules: ["work.js"], manifest }) } });
  const raw = await startPeer(stage, "raw-http.mjs", "compute", String(steps));
  const ours = { url: `${daemon.url}/app/` };
  for (const { url } of [ours, raw]) await expectAnswer(url, { text: String(work(steps)) });
  const row = {
    work: "`instances: 2`, a worker that computes 1 ms, 32 connections",
    against: "raw node:http doing the same",
    target: { atLeast: 1.5 },
    note: "1 ms is a fixed number of arithmetic steps, measured at the start; both sides do the same number.",
  };
  return await compareLoad(stage, row, { ours, theirs: { url: raw.url } });
}

/**
 * Returns the number of arithmetic steps that one core performs in 1 ms: the best of 20 attempts, because other load disturbs some
 * attempts.
 */
function stepsOfOneMillisecond() {
  const steps = 2_000_000;
  let bestMs = Infinity;
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const startedAtMs = performance.now();
    work(steps);
    bestMs = Math.min(bestMs, performance.now() - startedAtMs);
  }
  return Math.round(steps / bestMs);
}
