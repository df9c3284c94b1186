import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { spawnedBy, peakRssBytes, resetPeak, rssBytes } from "../support/memory.mjs";
import { alternate, median, medianRatio } from "../support/rounds.mjs";
import { limitRow } from "../support/rows.mjs";
import { startPeer } from "../support/server.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "streams";

const boundTitle = "node:http and a child process, piped";
const boundNote =
  "What is left of the raw server's rate once the bytes come from, or go to, another process of Node over a socket pair: `pipe` on both sides and nothing else, no frames, no checks, no limits. It stands where ours stands in the other rows, to show what the platform allows.";
const firstNote = "One transfer, which is what warms up the others: until then most of what each process does is interpreted.";
const megabyte = 1024 * 1024;
/** Idle time after which V8 reduces the heap of a process. Processes that wait for an upload are idle for so long. */
const quietMs = 15_000;
const client = fileURLToPath(new URL("../support/stream-client.mjs", import.meta.url));

export async function run(stage) {
  const bytes = (stage.settings.isQuick ? 128 : 1024) * megabyte;
  const manifest = { maxBodySize: "2gb" };
  const daemon = await startDaemon(stage, {
    workers: { app: await workerOf("stream.js", { manifest }) },
    env: { RUNTIME_MAX_BODY_SIZE: "2gb" },
  });
  const raw = await startPeer(stage, "raw-http.mjs", "stream");
  const bound = await startPeer(stage, "piped-child.mjs");
  const urls = { ours: `${daemon.url}/app/`, theirs: `${raw.url}/`, bound: `${bound.url}/` };
  for (const url of Object.values(urls)) await expectAnswer(url, { method: "POST", body: "x".repeat(1000), text: "1000" });
  const rows = [];
  for (const direction of ["down", "up"]) {
    const transfer = async (url, size) => Number(await stage.run(process.execPath, [client, direction, url, String(size)]));
    // Warms up the streams, because V8 compiles the code for a chunk of a body only after thousands of chunks of 64 KB.
    const first = {};
    for (const [side, url] of Object.entries(urls)) first[side] = [await transfer(url, bytes)];
    if (!stage.settings.isQuick) await delay(quietMs);
    const growths = { daemon: [], isolate: [] };
    const measureOurs = async () => {
      const processes = { daemon: daemon.pid, isolate: busiest(spawnedBy(daemon.pid)) };
      const before = Object.fromEntries(Object.entries(processes).map(([title, pid]) => [title, rssBytes(pid)]));
      for (const pid of Object.values(processes)) resetPeak(pid);
      const perSecond = await transfer(urls.ours, bytes);
      for (const [title, pid] of Object.entries(processes)) growths[title].push((peakRssBytes(pid) - before[title]) / megabyte);
      return perSecond;
    };
    const figures = await alternate(stage.settings.rounds, {
      ours: measureOurs,
      theirs: () => transfer(urls.theirs, bytes),
      bound: () => transfer(urls.bound, bytes),
    });
    const work = `${bytes / megabyte} MB streamed ${direction}`;
    rows.push(
      { ...rateRow(figures.ours, figures.theirs), work, against: "raw node:http pipe", target: { atLeast: 0.7 } },
      { ...rateRow(figures.ours, figures.bound), work, against: boundTitle },
      { ...rateRow(figures.bound, figures.theirs), work: `${work} by ${boundTitle}`, against: "raw node:http pipe", note: boundNote },
      { ...rateRow(first.ours, first.theirs), work: `${work}, the first of all processes`, against: "raw node:http pipe", note: firstNote },
    );
    rows.push(
      limitRow({
        work: `${bytes / megabyte} MB streamed ${direction}: growth of the daemon's memory`,
        value: Math.max(...growths.daemon),
        atMost: 64,
        unit: "MB",
        note: `The largest of all rounds: peak of the resident memory during the transfer, less what it was just before, after a transfer to warm up. The isolate's own, ${direction}: ${Math.max(...growths.isolate).toFixed(1)} MB.`,
      }),
    );
  }
  return rows;
}

/** Returns the isolate that serves the stream. The other processes are standby isolates. */
function busiest(pids) {
  return pids.toSorted((left, right) => rssBytes(right) - rssBytes(left))[0];
}

function rateRow(ours, theirs) {
  return { ours: `${rate(ours)} MB/s`, theirs: `${rate(theirs)} MB/s`, ratio: medianRatio(ours, theirs) };
}

function rate(bytesPerSecond) {
  return (median(bytesPerSecond) / megabyte).toFixed(0);
}
