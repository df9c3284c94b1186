// Writes the metrics history and the cron runs of the sample daemon, in the format of the daemon's own code.
import { appendFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { deployments, traffic } from "./sample-packages.mjs";

const historySource = fileURLToPath(new URL("../../src/server/metrics/history/", import.meta.url));
const minutes = 24 * 60;

/** Appends 24 h of metrics and the runs of cron jobs to the files in a state directory. The daemon must not run. */
export async function writeSampleHistory(stateDirectory) {
  const { HistoryFiles, encodeRow } = await loadHistoryCode();
  const files = new HistoryFiles(path.join(stateDirectory, "metrics-history"));
  await files.readJournal();
  const now = Math.floor(Date.now() / 60_000);
  const isolates = traffic.length - 1;
  const rowsOf = { "": [] };
  for (let slot = now - minutes; slot < now; slot += 1) {
    const rows = traffic.map((worker) => ({ worker, row: rowOf(worker, slot, now) }));
    for (const { worker, row } of rows) (rowsOf[worker.name] ??= []).push(encodeRow(row));
    rowsOf[""].push(
      encodeRow(
        sumOf(
          rows.map(({ row }) => row),
          slot,
          isolates,
        ),
      ),
    );
  }
  const records = Object.entries(rowsOf).map(([name, rows]) => ({ kind: "rows", name, stepSeconds: 60, rows: Buffer.concat(rows) }));
  records.push({ kind: "rows", name: "", stepSeconds: 10, rows: tens(now, isolates, encodeRow) });
  await files.append(records);
  await appendFile(path.join(stateDirectory, "cron-runs.jsonl"), cronRuns().join(""));
}

/** Returns the daemon's own code that writes the history. */
export async function loadHistoryCode() {
  const contents = 'export { HistoryFiles } from "./history-files.ts"; export { encodeRow } from "./metric-ring.ts";';
  const options = { bundle: true, write: false, platform: "node", format: "esm" };
  const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir: historySource } });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
}

/** Returns the row of one minute: more traffic by day than by night, and failures of `@team/invoices` since its last deployment. */
function rowOf({ name, perMinute, failedShare, p50Ms }, slot, now) {
  const requests = Math.round(perMinute * dailyShare(slot) * (0.8 + noise(slot, perMinute) * 0.4));
  const { age } = deployments.findLast((deployment) => deployment.name === name);
  const share = name === "@team/invoices" && now - slot < age ? 0.7 : failedShare * noise(slot, 7) * 2;
  const p50 = p50Ms * (0.9 + noise(slot, 3) * 0.3);
  return {
    slot,
    requests,
    failed: Math.round(requests * share),
    p50Ms: requests === 0 ? Number.NaN : p50,
    p99Ms: requests === 0 ? Number.NaN : p50 * (3 + noise(slot, 11) * 2),
    memoryKilobytes: Math.round((21 + noise(slot >> 4, perMinute) * 4) * 1024),
    cpuSeconds: requests * 0.002,
    isolates: name === "handbook" ? 0 : 1,
  };
}

function sumOf(rows, slot, isolates) {
  const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
  return {
    slot,
    requests: sum("requests"),
    failed: sum("failed"),
    p50Ms: 8 + noise(slot, 5) * 2,
    p99Ms: 60 + noise(slot, 6) * 40,
    memoryKilobytes: sum("memoryKilobytes") + 96 * 1024,
    cpuSeconds: sum("cpuSeconds") + 0.4,
    isolates,
  };
}

/** Returns the rows of 10 s of the last hour. */
function tens(now, isolates, encodeRow) {
  return Buffer.concat(
    Array.from({ length: 360 }, (_, index) => {
      const slot = now * 6 - 360 + index;
      const rows = traffic.map((worker) => rowOf(worker, Math.ceil(slot / 6), now));
      const total = sumOf(rows, slot, isolates);
      const share = (0.75 + noise(slot, 2) * 0.5) / 6;
      const parts = {
        requests: Math.round(total.requests * share),
        failed: Math.round(total.failed * share),
        cpuSeconds: total.cpuSeconds / 6,
      };
      return encodeRow({ ...total, ...parts });
    }),
  );
}

function cronRuns() {
  const ok = { status: 200, outcome: "ok" };
  const failed = { status: 503, outcome: "failed", error: "It returned status 503." };
  const runs = [
    ...runsOf({ worker: "storefront", job: stockJob, seconds: 900, count: 40 }, (index) => (index === 13 || index === 14 ? failed : ok)),
    ...runsOf({ worker: "@team/reports", job: nightlyJob, seconds: 86_400, count: 4 }, () => ({ status: 204, outcome: "ok" })),
  ];
  return runs.map((line, index) => `${JSON.stringify({ ...line, id: 1000 + index })}\n`);
}

/** Returns the last `count` runs of a job that runs every `seconds`. `outcomeOf` returns the outcome of a run by its index. */
function runsOf({ worker, job, seconds, count }, outcomeOf) {
  const last = Math.floor(Date.now() / 1000 / seconds) * seconds;
  return Array.from({ length: count }, (_, index) => {
    const at = last - (count - 1 - index) * seconds;
    const durationMs = 18 + Math.round(noise(at, 1) * 40);
    return { worker, job, run: { at, trigger: "schedule", durationMs, ...outcomeOf(index) } };
  });
}

const stockJob = "POST /jobs/stock";
const nightlyJob = "POST /nightly";

/** Returns the share of the traffic at noon: 1 at noon, 0.25 at midnight (UTC). */
function dailyShare(slot) {
  return 0.625 - 0.375 * Math.cos(((slot % 1440) / 1440) * 2 * Math.PI);
}

/** Returns a number from 0 to 1 that is the same in each run. */
function noise(slot, seed) {
  const value = Math.sin(slot * 12.9898 + seed * 78.233) * 43_758.5453;
  return value - Math.floor(value);
}
