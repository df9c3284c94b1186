import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";
import { page, records } from "../workers/payload.js";

export const name = "bodies";

const echoBytes = 1024;
const works = [
  {
    mode: "echo",
    work: "1 KB POST echo, 32 connections",
    against: "raw node:http echo",
    target: { atLeast: 0.7, aim: 0.9 },
    load: { method: "POST", bodyBytes: echoBytes, leastBytes: echoBytes },
    probe: { method: "POST", body: "x".repeat(echoBytes) },
    answer: "x".repeat(echoBytes),
  },
  {
    mode: "json",
    work: "JSON of 10 KB, 32 connections",
    against: "raw node:http, same bytes",
    target: { atLeast: 0.7 },
    load: { leastBytes: JSON.stringify(records).length },
    answer: JSON.stringify(records),
  },
  {
    mode: "html",
    work: "HTML of 100 KB, 32 connections",
    against: "raw node:http, same bytes",
    target: { atLeast: 0.7 },
    load: { leastBytes: page.length },
    answer: page,
  },
];

export async function run(stage) {
  const modules = ["payload.js"];
  const workers = Object.fromEntries(await Promise.all(works.map(async ({ mode }) => [mode, await workerOf(`${mode}.js`, { modules })])));
  const daemon = await startDaemon(stage, { workers });
  const rows = [];
  for (const { mode, load, probe, answer, ...row } of works) {
    const raw = await startPeer(stage, "raw-http.mjs", mode);
    const ours = { url: `${daemon.url}/${mode}/` };
    for (const { url } of [ours, raw]) await expectAnswer(url, { ...probe, text: answer });
    rows.push(...(await compareLoad(stage, row, { ours, theirs: { url: raw.url }, target: load })));
    await raw.stop();
  }
  return rows;
}
