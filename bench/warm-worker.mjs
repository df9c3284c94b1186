// A warm worker beside raw node:http that sends the same bytes, in one run: rounds alternate, so that both see the same machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const autocannon = createRequire(import.meta.url).resolve("autocannon/autocannon.js");
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);
const secondsPerRound = Number(process.env["BENCH_SECONDS"] ?? 3);
const appSource = `export default {
  async fetch(request) {
    return request.method === "POST" ? new Response(await request.arrayBuffer()) : new Response("ok");
  },
};`;

const works = [
  { work: "warm worker answering ok, 32 connections", against: "raw node:http", target: 0.6, flags: ["-c", "32"] },
  { work: "warm worker answering ok, 256 connections", against: "raw node:http", target: 0.6, flags: ["-c", "256"] },
  {
    work: "1 KB POST echo, 32 connections",
    against: "raw node:http echo",
    target: 0.6,
    flags: ["-c", "32", "-m", "POST", "-b", "x".repeat(1024)],
  },
];

export const name = "warm-worker";

/** Requests per second of a warm worker as a ratio of raw node:http: medians of alternating rounds. */
export async function run() {
  const folder = await mkdtemp(path.join(tmpdir(), "bench-"));
  await writeFile(path.join(folder, "index.js"), appSource);
  const worker = await startServer("worker", folder);
  const raw = await startServer("raw", folder);
  try {
    const rows = [];
    for (const { flags, ...work } of works) {
      const ratios = [];
      await load(`${worker.url}/app/`, flags, 1);
      await load(raw.url, flags, 1);
      for (let round = 0; round < rounds; round += 1) {
        const ours = await load(`${worker.url}/app/`, flags, secondsPerRound);
        const theirs = await load(raw.url, flags, secondsPerRound);
        ratios.push({ ratio: ours.perSecond / theirs.perSecond, ours, theirs });
      }
      const median = ratios.toSorted((a, b) => a.ratio - b.ratio)[Math.floor(ratios.length / 2)];
      const figures = { requestsPerSecond: median.ours.perSecond, againstPerSecond: median.theirs.perSecond };
      rows.push({ ...work, ratio: median.ratio, ...figures, p99: `${median.ours.p99} ms against ${median.theirs.p99} ms` });
    }
    return { rows };
  } finally {
    await Promise.all([worker.stop(), raw.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each server is a process of its own, as in real life: neither shares an event loop with the other or with the load. */
async function startServer(kind, folder) {
  const child = spawn(
    process.execPath,
    [...serverFlags(kind), fileURLToPath(new URL("warm-worker-server.mjs", import.meta.url)), kind, folder],
    {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    },
  );
  const [port] = await once(child, "message");
  const stop = async () => {
    child.kill();
    await once(child, "exit");
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

function serverFlags(kind) {
  const folder = process.env["BENCH_PROFILE"];
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${kind}.cpuprofile`];
}

async function load(url, flags, seconds) {
  const child = spawn(process.execPath, [autocannon, "--json", "--no-progress", "-d", String(seconds), ...flags, url], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  await once(child, "close");
  const result = JSON.parse(output);
  if (result.errors > 0 || result.non2xx > 0) throw new Error(`${url}: ${result.errors} errors, ${result.non2xx} answers beyond 2xx`);
  return { perSecond: result.requests.average, p99: result.latency.p99 };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table((await run()).rows);
