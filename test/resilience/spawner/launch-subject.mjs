// Has a process launched that does not end by itself: node launch-subject.mjs start|wait|end|fill.
import { closeSync, openSync } from "node:fs";
import { launch } from "../../../build/server/platform/spawner/launch.js";

const launchSleeper = () =>
  launch({ file: process.execPath, args: ["-e", "setInterval(() => {}, 1e6)"], workingDirectory: "/", descriptors: [1, 2] });
const say = (line) => process.stdout.write(`${line}\n`);

if (process.argv[2] === "start") say("about to");
const sleeper = await launchSleeper();
say(sleeper.pid);
if (process.argv[2] === "end") sleeper.kill();
if (process.argv[2] === "fill") {
  const files = [];
  try {
    for (;;) files.push(openSync("/dev/null"));
  } catch {
    // As many as there can be.
  }
  await launchSleeper().catch((error) => say(`${error.code}: ${error.message}`));
  for (const file of files) closeSync(file);
  const next = await launchSleeper();
  for (const launched of [sleeper, next]) launched.kill();
}
