import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { childrenOf } from "../support/memory.mjs";

/** Time for which the primary stays killed or frozen. */
const awayMs = 8_000;
/** Pause between two disturbances. */
const pauseMs = 20_000;

/**
 * Disturbs the primary and the processes that copy from it, one after the other, until the time is over. At the end, everything runs again.
 */
export async function disturb({ sqld, daemons, record, untilMs }) {
  const kinds = {
    "kill the primary": () => beAway(record, { leave: () => sqld.kill(), comeBack: () => sqld.restart() }),
    "kill the syncer of each daemon": () => killSyncers(daemons),
    "freeze the primary": () => beAway(record, { leave: () => sqld.freeze(), comeBack: () => sqld.thaw() }),
  };
  for (let turn = 0; record.nowMs() + pauseMs + 2 * awayMs < untilMs; turn += 1) {
    await delay(pauseMs);
    const [title, disturbance] = Object.entries(kinds)[turn % Object.keys(kinds).length];
    await disturbance();
    record.count(title, "done");
  }
}

async function beAway(record, { leave, comeBack }) {
  record.primaryLeaves();
  await leave();
  await delay(awayMs);
  await comeBack();
  record.primaryIsBack();
}

function killSyncers(daemons) {
  for (const { pid, name } of daemons.all) {
    const syncers = childrenOf(pid).filter((child) => commandOf(child).includes("syncer"));
    if (syncers.length === 0) throw new Error(`${name} has no syncer`);
    for (const syncer of syncers) process.kill(syncer, "SIGKILL");
  }
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
