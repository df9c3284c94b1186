import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { alternate, p99 } from "../support/rounds.mjs";
import { tell } from "../support/tell.mjs";
import { copies, faults, startOurs, startTheirs, timeoutMs } from "./sides.mjs";

const client = fileURLToPath(new URL("../support/paced-client.mjs", import.meta.url));
/** The neighbour is asked 500 times a second. */
const pauseMs = 2;
const warmUpMs = 3000;
/** Quiet before each fault; those of a round count together. */
const quietMs = 300;
/** From one bad request to the next. */
const strikeEveryMs = 1000;
/** The bad app is asked for something harmless so long after its bad request. */
const backAfterMs = 700;
const settleMs = 250;

/**
 * Each fault `copies` times, a second apart, beside a neighbour under steady load; a round on each side in turn, the first one to warm up.
 * Answers, by side, a list of rounds: `{ beforeMs, amidMs: { fault: ms } }`, each the neighbour's p99.
 */
export async function watchFaults(stage, { rounds }) {
  const sides = { ours: await startOurs(stage), theirs: await startTheirs(stage) };
  const figures = await alternate(rounds + 1, {
    ours: () => playRound(stage, sides.ours),
    theirs: () => playRound(stage, sides.theirs),
  });
  return { ours: figures.ours.slice(1), theirs: figures.theirs.slice(1) };
}

async function playRound(stage, side) {
  const load = stage.spawn(process.execPath, [client, side.neighbour, String(pauseMs)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await delay(warmUpMs);
  const quiet = [];
  const amidMs = {};
  for (const fault of faults) {
    const { before, amid } = await playFault(load, await side.open(fault));
    quiet.push(...before);
    amidMs[fault] = p99(amid);
  }
  await stage.end(load);
  return { beforeMs: p99(quiet), amidMs };
}

async function playFault(load, app) {
  for (let copy = 0; copy < copies; copy += 1) await get(app, copy, "/ok");
  await delay(settleMs);
  await tell(load, "take");
  await delay(quietMs);
  const before = await tell(load, "take");
  for (let copy = 0; copy < copies; copy += 1) {
    void get(app, copy, "/");
    await delay(backAfterMs);
    void get(app, copy, "/ok");
    await delay(strikeEveryMs - backAfterMs);
  }
  const amid = await tell(load, "take");
  app.close();
  return { before, amid };
}

/** Whatever comes of it, within a time that is longer than that of a request. */
function get(app, copy, path) {
  const url = app.url(copy);
  if (url === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const request = http.get(`${url}${path}`, { agent: false }, (response) => response.resume().once("close", resolve));
    request.once("error", resolve);
    const late = setTimeout(() => path === "/" && app.kill(copy), timeoutMs);
    request.once("response", () => clearTimeout(late));
    setTimeout(() => request.destroy(), strikeEveryMs).unref();
    request.once("close", () => clearTimeout(late));
  });
}
