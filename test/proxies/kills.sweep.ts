import { readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CountingLoad } from "../support/counting-load.js";
import { InstanceHouse, uploadApp, type Instance } from "./instance-house.js";
import { Operators } from "./operators.js";

const kills = 30;
/** A kill comes at a random moment within this time after the one before was recovered from. */
const killSpanMs = 1_500;
/** nginx passes over an instance that has failed for up to 3 s (`fail_timeout=2s`, in whole seconds); with all three passed over nobody would be asked. */
const killAndNextButOneMs = 4_000;
/** What was replaced stays a minute, for isolates of other instances that still read from it. */
const keptMs = 120_000;
/** What nginx answers for a change whose daemon was killed; and a DELETE that was done it sends to the next instance, too, which says so. */
const explained = ["status 502", "KEY_NOT_FOUND", "WORKER_NOT_FOUND"];

test(
  `${kills} kills of daemons at random moments lose no acknowledged change, and no request to an app`,
  { timeout: 20 * 60_000 },
  async () => {
    const house = await InstanceHouse.open();
    await uploadApp(house.client, "steady", "well");
    const operators = new Operators(house);
    await operators.start();
    const load = new CountingLoad(`${house.url}/steady/`, { ca: house.ca });
    onTestFinished(() => load.stop());

    const killedAtMs: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      await delay(Math.random() * killSpanMs);
      const lastButOneMs = killedAtMs.at(-2) ?? -Infinity;
      await delay(Math.max(0, lastButOneMs + killAndNextButOneMs - performance.now()));
      killedAtMs.push(performance.now());
      const instance = house.instances[Math.floor(Math.random() * house.instances.length)] as Instance;
      await instance.kill();
      await instance.start();
    }
    await operators.stop();
    await load.stop();

    for (const instance of house.instances) await operators.expectLedgerHolds(instance);
    console.log(`${kills} kills: ${operators.ledger.acknowledged} changes acknowledged, ${operators.ledger.open} open`);
    console.log("served:", load.answers, "calls that failed:", operators.failures);
    expect([...load.answers.keys()]).toEqual(["200 well"]);
    expect([...operators.failures.keys()].filter((failure) => !explained.includes(failure))).toEqual([]);
    // Kills that never met a change would prove nothing.
    expect(operators.ledger.open).toBeGreaterThan(0);
    expect(operators.ledger.acknowledged).toBeGreaterThan(kills);
    for (const folder of ["workers", "plugins"]) await expect.poll(() => leftoversIn(house, folder), { timeout: keptMs }).toEqual([]);
  },
);

async function leftoversIn({ sharedDirectory }: InstanceHouse, folder: string): Promise<string[]> {
  return await readdir(`${sharedDirectory}/${folder}/.staging`).catch(() => []);
}
