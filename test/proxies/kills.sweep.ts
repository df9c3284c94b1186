import { readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CountingLoad } from "../support/counting-load.js";
import { InstanceHarness, uploadApp, type Instance } from "./instance-harness.js";
import { Operators } from "./operators.js";

const kills = 30;
/** Each kill comes at a random time within this span after the previous recovery. */
const killSpanMs = 1_500;
/** nginx skips a failed instance for up to 3 s (`fail_timeout=2s`, in whole seconds). If it skipped all three, requests would fail. */
const killAndNextButOneMs = 4_000;
/** Replaced files are kept until the running requests have ended. */
const keptMs = 60_000;
/**
 * Responses of nginx for a change whose daemon was killed. nginx sends a completed DELETE again to the next instance, which responds with
 * 404.
 */
const explained = ["status 502", "KEY_NOT_FOUND", "WORKER_NOT_FOUND"];

test(`daemons lose no confirmed change and no request when ${kills} random kills occur`, { timeout: 20 * 60_000 }, async () => {
  const harness = await InstanceHarness.open();
  await uploadApp(harness.client, "steady", "well");
  await harness.expectEverywhere("/steady/", "well");
  const operators = new Operators(harness);
  await operators.start();
  const load = new CountingLoad(`${harness.url}/steady/`, { ca: harness.ca });
  onTestFinished(() => load.stop());

  const killedAtMs: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    await delay(Math.random() * killSpanMs);
    const lastButOneMs = killedAtMs.at(-2) ?? -Infinity;
    await delay(Math.max(0, lastButOneMs + killAndNextButOneMs - performance.now()));
    killedAtMs.push(performance.now());
    const instance = harness.instances[Math.floor(Math.random() * harness.instances.length)] as Instance;
    await instance.kill();
    await instance.start();
  }
  await operators.stop();
  await load.stop();

  for (const instance of harness.instances) await operators.expectLedgerHolds(instance);
  console.log(`${kills} kills: ${operators.ledger.acknowledged} changes acknowledged, ${operators.ledger.open} open`);
  console.log("served:", load.answers, "calls that failed:", operators.failures);
  expect([...load.answers.keys()]).toEqual(["200 well"]);
  expect([...operators.failures.keys()].filter((failure) => !explained.includes(failure))).toEqual([]);
  // The test needs kills during changes.
  expect(operators.ledger.open).toBeGreaterThan(0);
  expect(operators.ledger.acknowledged).toBeGreaterThan(kills);
  for (const { directory } of harness.instances)
    for (const folder of ["workers", "plugins"]) await expect.poll(() => leftoversIn(directory, folder), { timeout: keptMs }).toEqual([]);
});

async function leftoversIn(directory: string, folder: string): Promise<string[]> {
  return await readdir(`${directory}/${folder}/.staging`).catch(() => []);
}
