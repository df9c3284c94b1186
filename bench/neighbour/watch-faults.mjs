import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { alternate, p99 } from "../support/rounds.mjs";
import { tell } from "../support/tell.mjs";
import { copies } from "./bad-app.mjs";
import { startOurs, startTheirs } from "./sides.mjs";

const client = fileURLToPath(new URL("../support/paced-client.mjs", import.meta.url));
/** The neighbour is asked 500 times a second. */
const pauseMs = 2;
const warmUpMs = 3000;
/** Until all that a fault's preparations have started is there. */
const settleMs = 1000;
/** Quiet before each fault; those of a round count together. */
const quietMs = 300;
/** From one strike to the next. */
const strikeEveryMs = 1000;

/**
 * Each fault some times, a second apart, beside a neighbour under steady load; a round on each side in turn, the first one to warm up.
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
