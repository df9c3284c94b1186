import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { limitRow } from "../support/rows.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "idle daemon";

/** Number of installed workers, and the maximum share of a core that an idle daemon uses with them. */
const cases = [
  { count: 3, atMostPercent: 0.2 },
  { count: 1000, atMostPercent: 0.5 },
];
/** Number of workers that have served a request and still have an idle isolate. */
const usedWorkers = 3;
/** Time until the daemon has completed the work that follows its start. */
const settleMs = 40_000;
const measuredMs = 60_000;

export async function run(stage) {
  const isShort = stage.settings.isQuick;
  const rows = [];
  for (const { count, atMostPercent } of cases) {
    const app = await workerOf("ok.js");
    const workers = Object.fromEntries(Array.from({ length: count }, (_, index) => [`app-${index}`, app]));
    const daemon = await startDaemon(stage, { workers });
    for (let index = 0; index < usedWorkers; index += 1) await expectAnswer(`${daemon.url}/app-${index}/`, { text: "ok" });
    await delay(isShort ? 1000 : settleMs);
    const [beforeMs, startedAtMs] = [await processorMs(daemon.pid), performance.now()];
    await delay(isShort ? 1000 : measuredMs);
    const value = (100 * ((await processorMs(daemon.pid)) - beforeMs)) / (performance.now() - startedAtMs);
    await daemon.stop();
    rows.push(
      limitRow({ work: `idle with ${count.toLocaleString("en-US")} workers: share of a core`, value, atMost: atMostPercent, unit: "%" }),
    );
  }
  return rows;
}

/** Returns the time for which all threads of a process have used a core. */
async function processorMs(pid) {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8")));
  return times.reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1e6, 0);
}
