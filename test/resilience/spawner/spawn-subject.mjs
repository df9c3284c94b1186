// Spawns a process that never ends: node spawn-subject.mjs start|wait|end|fill.
import { closeSync, openSync } from "node:fs";
import { spawnProcess } from "../../../build/server/platform/spawner/spawner.js";

const spawnSleeper = () =>
  spawnProcess({ file: process.execPath, args: ["-e", "setInterval(() => {}, 1e6)"], workingDirectory: "/", descriptors: [1, 2] });
const say = (line) => process.stdout.write(`${line}\n`);

if (process.argv[2] === "start") say("about to");
const sleeper = await spawnSleeper();
say(sleeper.pid);
if (process.argv[2] === "end") sleeper.kill();
if (process.argv[2] === "fill") {
  const files = [];
  try {
    for (;;) files.push(openSync("/dev/null"));
  } catch {
    // The process has no free file descriptor now.
  }
  await spawnSleeper().catch((error) => say(`${error.code}: ${error.message}`));
  for (const file of files) closeSync(file);
  const next = await spawnSleeper();
  for (const spawned of [sleeper, next]) spawned.kill();
}
