import { loadInTurn } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { throughputRows } from "../support/rows.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "warm worker";

export async function run(stage) {
  const daemon = await startDaemon(stage, { workers: { app: await workerOf("ok.js") } });
  const raw = await startPeer(stage, "raw-http.mjs", "ok");
  const least = await startPeer(stage, "forked-echo.mjs", "1");
  const sides = { ours: { url: `${daemon.url}/app/` }, raw: { url: raw.url }, least: { url: least.url } };
  for (const { url } of Object.values(sides)) await expectAnswer(url, { text: "ok" });
  const rows = [];
  for (const connections of [32, 256]) {
    const figures = await loadInTurn(stage, sides, { connections });
    const work = `warm worker answering ok, ${connections} connections`;
    const row = { work, against: "raw node:http", target: { atLeast: 0.75, aim: 0.9 }, p99AtMost: 2 };
    const leastWork = `raw node:http and a process that echoes a byte, ${connections} connections`;
    rows.push(
      ...throughputRows(row, figures.ours, figures.raw),
      ...throughputRows({ work, against: "raw node:http and a process that echoes a byte" }, figures.ours, figures.least),
      ...throughputRows({ work: leastWork, against: "raw node:http" }, figures.least, figures.raw),
    );
  }
  return rows;
}
