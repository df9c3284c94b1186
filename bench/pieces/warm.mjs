import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "warm worker";

export async function run(stage) {
  const daemon = await startDaemon(stage, { workers: { app: await workerOf("ok.js") } });
  const raw = await startPeer(stage, "raw-http.mjs", "ok");
  const ours = { url: `${daemon.url}/app/` };
  for (const { url } of [ours, raw]) await expectAnswer(url, { text: "ok" });
  const rows = [];
  for (const connections of [32, 256]) {
    const work = `warm worker answering ok, ${connections} connections`;
    const row = { work, against: "raw node:http", target: { atLeast: 0.75, aim: 0.9 }, p99AtMost: 2 };
    rows.push(...(await compareLoad(stage, row, { ours, theirs: { url: raw.url }, target: { connections } })));
  }
  return rows;
}
