import { setTimeout as delay } from "node:timers/promises";
import { formOf, packApp } from "../mixed-load/editions.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { startRegistry } from "../support/registry.mjs";
import { alternate } from "../support/rounds.mjs";
import { Sqld } from "../support/sqld.mjs";
import { startReadyDaemon } from "./real-daemon.mjs";

const uploadsAtOnce = 4;
/** Number of further apps per start whose first request is measured. */
const randomApps = 10;
const uploadAttempts = 5;
const attemptPauseMs = 1_000;

/**
 * Uploads packages to one daemon, then starts alternately a daemon with empty directories (cold) and the first daemon again (warm). The
 * operating system has the files of both in memory.
 */
export async function measureJoin(stage, { packages, rounds }) {
  const sqld = await Sqld.start(stage);
  const registry = await startRegistry(stage);
  const start = (directory) => startReadyDaemon(stage, { directory, primaryUrl: sqld.url, registryUrl: registry.url });
  const warmDirectory = await stage.temporaryDirectory();
  const names = Array.from({ length: packages }, (_, index) => `app-${index}`);
  const uploader = await start(warmDirectory);
  const uploadMs = await uploadAll(stage, uploader, names);
  await uploader.stop();
  const apps = Array.from({ length: rounds }, () => pick(names, randomApps + 1));
  const figures = await alternate(rounds, {
    cold: async (round) => measureStart(await start(await stage.temporaryDirectory()), names, apps[round]),
    warm: async (round) => measureStart(await start(warmDirectory), names, apps[round]),
  });
  return { ...figures, uploadMs };
}

async function uploadAll(stage, daemon, names) {
  const directory = await stage.temporaryDirectory();
  const startedAtMs = performance.now();
  const waiting = [...names];
  const lane = async () => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop())
      await upload(daemon, name, await packApp(directory, name, name));
  };
  await Promise.all(Array.from({ length: uploadsAtOnce }, lane));
  return performance.now() - startedAtMs;
}

/** Uploads a package, and repeats the upload if the primary or the registry was too slow on the shared machine. */
async function upload(daemon, name, archive) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${daemon.url}/api/workers/upload`, { method: "POST", headers: daemon.headers, body: formOf(archive) });
    if (response.ok) return;
    const text = await response.text();
    if (response.status !== 503 || attempt === uploadAttempts) throw new Error(`the upload of ${name} failed: ${response.status} ${text}`);
    await delay(attemptPauseMs);
  }
}

/** Measures the first requests of a ready daemon, then stops it. Fails if the daemon does not list all packages. */
async function measureStart(daemon, names, [first, ...others]) {
  const firstMs = await timeFirst(daemon, first);
  const othersMs = [];
  for (const name of others) othersMs.push(await timeFirst(daemon, name));
  const listed = await (await fetch(`${daemon.url}/api/workers`, { headers: daemon.headers })).json();
  const known = new Set(listed.map(({ name }) => name));
  const missing = names.filter((name) => !known.has(name));
  if (missing.length > 0) throw new Error(`${missing.length} of ${names.length} packages are not listed`);
  await daemon.stop();
  return { readyMs: daemon.readyMs, firstMs, othersMs };
}

/** Returns the time in ms until an app responds with its name. */
async function timeFirst({ url }, name) {
  const startedAtMs = performance.now();
  await expectAnswer(`${url}/${name}/`, { text: name });
  return performance.now() - startedAtMs;
}

function pick(names, count) {
  const left = [...names];
  return Array.from({ length: count }, () => left.splice(Math.floor(Math.random() * left.length), 1)[0]);
}
