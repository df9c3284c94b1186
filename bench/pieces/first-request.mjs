import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { alternate } from "../support/rounds.mjs";
import { durationRow } from "../support/rows.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "first request";

const forkedApp = fileURLToPath(new URL("../peers/forked-app.mjs", import.meta.url));
/** Pause between two first requests, in which the daemon starts a new standby isolate. */
const pauseMs = 400;

export async function run(stage) {
  const rounds = stage.settings.isQuick ? 5 : 21;
  const app = await workerOf("ok.js");
  const workers = Object.fromEntries(Array.from({ length: rounds + 1 }, (_, index) => [`app-${index}`, app]));
  const daemon = await startDaemon(stage, { workers });
  // Sends one request before the measurement, because the first request to a daemon takes longer, for every app.
  await expectAnswer(`${daemon.url}/app-${rounds}/`, { text: "ok" });
  const { ours, theirs } = await alternate(rounds, {
    ours: async (round) => {
      await delay(pauseMs);
      return await timeMs(() => expectAnswer(`${daemon.url}/app-${round}/`, { text: "ok" }));
    },
    theirs: (round) => timeMs(() => forkAndAsk(path.join(daemon.directory, "workers", `app-${round}`, "1.0.0", "index.js"))),
  });
  // The ratio states how many times as fast as the baseline the daemon is. It is therefore the baseline's time divided by the daemon's
  // time.
  const row = { work: "first request to an app never loaded", against: "fork + import, answered over IPC", target: { atLeast: 6 } };
  const { ratio } = durationRow(row, theirs, ours);
  const note = `Median of ${rounds} apps, one every ${pauseMs} ms, each asked over HTTP; the ratio says how many times as fast.`;
  return [{ ...durationRow(row, ours, theirs), ratio, note }];
}

async function forkAndAsk(file) {
  const child = fork(forkedApp, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  child.send(file);
  const [text] = await once(child, "message");
  child.kill("SIGKILL");
  if (text !== "ok") throw new Error(`the forked app answered ${text}`);
}

async function timeMs(action) {
  const startedAtMs = performance.now();
  await action();
  return performance.now() - startedAtMs;
}
