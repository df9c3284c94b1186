import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "cost of the request log";

/** Measures the same module and the same static site twice on one daemon, with and without `accessLog: false`. */
export async function run(stage) {
  const module = await workerOf("ok.js");
  const site = { files: { "index.html": "ok" } };
  const manifest = { accessLog: false };
  const workers = {
    module,
    "module-quiet": { ...module, manifest },
    site,
    "site-quiet": { ...site, manifest },
  };
  const { url, stop } = await startDaemon(stage, { workers });
  const rows = [];
  for (const kind of ["module", "site"]) {
    const sides = { ours: { url: `${url}/${kind}/` }, theirs: { url: `${url}/${kind}-quiet/` } };
    for (const side of Object.values(sides)) await expectAnswer(side.url, { text: "ok" });
    const row = { work: `${kind} with the request log, 32 connections`, against: "accessLog: false", target: { atLeast: 0.95 } };
    rows.push(...(await compareLoad(stage, row, sides)));
  }
  await stop();
  return rows;
}
