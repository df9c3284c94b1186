import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { alternate, p99 } from "../support/rounds.mjs";
import { durationRow, each } from "../support/rows.mjs";
import { startPeer } from "../support/server.mjs";
import { tell } from "../support/tell.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "leaving clients";

const crowd = 1000;
/** So long the neighbour's answers are counted, before and from the moment on when all leave: some 275. */
const windowMs = 1375;
const warmUpMs = 700;
const program = (file) => fileURLToPath(new URL(`../support/${file}`, import.meta.url));

export async function run(stage) {
  const daemon = await startDaemon(stage, { workers: { ok: await workerOf("ok.js"), never: await workerOf("never.js") } });
  const peer = await startPeer(stage, "raw-http.mjs", "ok-or-never");
  const sides = {
    ours: { neighbour: `${daemon.url}/ok/`, left: `${daemon.url}/never/` },
    theirs: { neighbour: `${peer.url}/ok/`, left: `${peer.url}/never/` },
  };
  for (const { neighbour } of Object.values(sides)) await expectAnswer(neighbour, { text: "ok" });
  const { ours, theirs } = await alternate(stage.settings.rounds, {
    ours: () => watchCrowdLeave(stage, sides.ours),
    theirs: () => watchCrowdLeave(stage, sides.theirs),
  });
  const work = `${crowd.toLocaleString("en-US")} clients leave at once in the midst of a request: p99 of a neighbour`;
  const beside = "raw node:http that they leave likewise";
  return [
    durationRow({ work, against: "the same neighbour before", target: { atMost: 2 } }, each(ours, "amidMs"), each(ours, "beforeMs")),
    durationRow({ work, against: beside }, each(ours, "amidMs"), each(theirs, "amidMs")),
    durationRow({ work: `${work}, with raw node:http`, against: "the same before" }, each(theirs, "amidMs"), each(theirs, "beforeMs")),
  ];
}

/** The neighbour's p99 before, and amid, their leaving; clients are processes of their own, new ones each time. */
async function watchCrowdLeave(stage, { neighbour, left }) {
  const options = { stdio: ["ignore", "ignore", "inherit", "ipc"] };
  const client = stage.spawn(process.execPath, [program("paced-client.mjs"), neighbour], options);
  const leaving = stage.spawn(process.execPath, [program("leaving-crowd.mjs"), left, String(crowd)], options);
  await delay(warmUpMs);
  await tell(client, "take");
  await delay(windowMs);
  const before = await tell(client, "take");
  await tell(leaving, "come");
  await tell(client, "take");
  await Promise.all([tell(leaving, "leave"), delay(windowMs)]);
  const amid = await tell(client, "take");
  await Promise.all([stage.end(client), stage.end(leaving)]);
  return { beforeMs: p99(before), amidMs: p99(amid) };
}
