import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { alternate, p99 } from "../support/rounds.mjs";
import { tell } from "../support/tell.mjs";
import { copies } from "./bad-app.mjs";
import { repeatable, startOurs, startTheirs } from "./sides.mjs";
import { startSteadyOthers } from "./steady-others.mjs";

const client = fileURLToPath(new URL("../support/paced-client.mjs", import.meta.url));
/** Pause between two requests to the neighbour, which receives 500 requests per second. */
const pauseMs = 2;
const warmUpMs = 3000;
/** Number of times that a repeatable fault occurs before the measurement, so that V8 compiles the code that handles it. */
const warmUpStrikes = 10;
/** Time until all processes that a fault needs have started. */
const settleMs = 1000;
/** Time without a fault before each fault. Each round combines the response times of all these periods. */
const quietMs = 300;
/** Pause between two faults. */
const strikeEveryMs = 1000;

/**
 * Causes each fault several times beside a neighbour under steady load, with and without load on others. Returns the rounds of the p99
 * after a warm-up round: `{ beforeMs, amidMs: { fault: ms }, othersPerSecond }`. Throws for a lost request.
 */
export async function watchFaults(stage, { rounds }) {
  const sides = { ours: await startOurs(stage), theirs: await startTheirs(stage) };
  await Promise.all(Object.values(sides).map(warmUp));
  const figures = await alternate(rounds + 1, {
    oursBusy: () => playBusyRound(stage, sides.ours),
    theirsBusy: () => playBusyRound(stage, sides.theirs),
    oursIdle: () => playRound(stage, sides.ours),
    theirsIdle: () => playRound(stage, sides.theirs),
  });
  const measured = (name) => figures[name].slice(1);
  return {
    busy: { ours: measured("oursBusy"), theirs: measured("theirsBusy") },
    idle: { ours: measured("oursIdle"), theirs: measured("theirsIdle") },
  };
}

async function warmUp({ faults }) {
  for (const title of repeatable) {
    const fault = await faults[title]();
    for (let turn = 0; turn < warmUpStrikes; turn += 1) await fault.strike(turn);
    fault.close();
  }
}

async function playBusyRound(stage, side) {
  const others = startSteadyOthers(stage, side.urlOf);
  const startedAtMs = performance.now();
  const figures = await playRound(stage, side);
  const seconds = (performance.now() - startedAtMs) / 1000;
  return { ...figures, othersPerSecond: (await others.end()) / seconds };
}

async function playRound(stage, { neighbour, faults }) {
  const load = stage.spawn(process.execPath, [client, neighbour, String(pauseMs)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await delay(warmUpMs);
  const quiet = [];
  const amidMs = {};
  for (const [title, begin] of Object.entries(faults)) {
    const { before, amid } = await playFault(load, await begin());
    quiet.push(...before);
    amidMs[title] = p99(amid);
  }
  await stage.end(load);
  return { beforeMs: p99(quiet), amidMs };
}

async function playFault(load, fault) {
  await delay(settleMs);
  await tell(load, "take");
  await delay(quietMs);
  const before = await tell(load, "take");
  const strikes = [];
  for (let turn = 0; turn < copies; turn += 1) {
    strikes.push(fault.strike(turn));
    await delay(strikeEveryMs);
  }
  const amid = await tell(load, "take");
  await Promise.all(strikes);
  fault.close();
  return { before, amid };
}
