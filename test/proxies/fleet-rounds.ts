import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { CountingLoad } from "../support/counting-load.js";
import { uploadWorker } from "../support/upload-worker.js";
import { type Instance, InstanceHarness, answerAt, uploadApp } from "./instance-harness.js";

/** Longest time from the acknowledgement of an upload until all other daemons serve it. */
const uploadLimitMs = 2_000;
/** Longest time from the acknowledgement of a revocation until all other daemons reject the key. */
const revocationLimitMs = 1_250;
/** Of this number of rounds, one is allowed to exceed the limit. */
const roundsPerMiss = 100;
/** Default of RUNTIME_AUTH_DB_SYNC_INTERVAL. Each change comes at a random time of it. */
const syncIntervalMs = 1_000;
const looksEveryMs = 10;
const giveUpMs = 30_000;
const restarts = 3;

const processApp = "export default { fetch: () => new Response(String(process.pid)) };";

/** Times in ms from the acknowledgement of a change until it is effective on all other daemons, one per round. */
interface FleetTimes {
  readonly uploadMs: readonly number[];
  readonly revocationMs: readonly number[];
}

/**
 * Measures uploads and revocations through daemon A on the other daemons, then restarts a worker on all, while clients request apps through
 * nginx. Expects the status 200 for every request.
 */
export async function runFleet(rounds: number): Promise<FleetTimes> {
  const fleet = await InstanceHarness.open();
  const [a, ...others] = fleet.instances as [Instance, Instance, Instance];
  await uploadApp(a.client, "steady", "well");
  await uploadApp(a.client, "changing", "before");
  await uploadWorker(a.client, "process", { "index.js": processApp });
  for (const name of ["steady", "changing", "process"]) for (const other of others) await untilOk(other, `/${name}/`);
  const loads = ["steady", "changing", "process"].map((name) => {
    const load = new CountingLoad(`${fleet.url}/${name}/`, { ca: fleet.ca, connections: 2, pauseMs: 10 });
    onTestFinished(() => load.stop());
    return load;
  });

  const [uploadMs, revocationMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await delay(Math.random() * syncIntervalMs);
    await uploadApp(a.client, "changing", `edition ${round}`);
    uploadMs.push(await untilAll(others, async ({ url }) => (await answerAt(url, "/changing/")) === `edition ${round}`));

    const { data } = await a.client.keys.create({ body: { name: `round ${round}`, role: "viewer" } });
    const isTaken = async ({ url }: Instance) => (await answerAt(url, "/api/admin/session", { "x-api-key": data.key })).startsWith("{");
    await untilAll(others, isTaken);
    await delay(Math.random() * syncIntervalMs);
    await a.client.keys.revoke({ params: { id: String(data.id) } });
    revocationMs.push(await untilAll(others, async (instance) => !(await isTaken(instance))));
  }
  for (let restart = 0; restart < restarts; restart += 1) await expectRestartEverywhere(fleet);
  await Promise.all(loads.map((load) => load.stop()));

  report("an upload is served by all other daemons", uploadMs, uploadLimitMs);
  report("a revocation is effective on all other daemons", revocationMs, revocationLimitMs);
  const failed = loads.flatMap(({ answers }) => [...answers].filter(([answer]) => !answer.startsWith("200 ")));
  console.log(`requests through nginx: ${loads.map(({ total }) => total).join(" + ")}, failed: ${failed.length}`);
  expect(failed).toEqual([]);
  return { uploadMs, revocationMs };
}

/** Expects the limits in 99 of 100 rounds. */
export function expectInTime({ uploadMs, revocationMs }: FleetTimes): void {
  const allowedMisses = Math.floor(uploadMs.length / roundsPerMiss);
  expect(missesOf(uploadMs, uploadLimitMs)).toBeLessThanOrEqual(allowedMisses);
  expect(missesOf(revocationMs, revocationLimitMs)).toBeLessThanOrEqual(allowedMisses);
}

/** Restarts the worker through nginx, and waits until all daemons have another process for it. */
async function expectRestartEverywhere(fleet: InstanceHarness): Promise<void> {
  const readPids = () => Promise.all(fleet.instances.map(({ url }) => answerAt(url, "/process/")));
  const before = await readPids();
  const { data } = await fleet.client.workers.restart({ params: { scope: "_", name: "process", version: "1.0.0" } });
  expect(data.instances).toEqual({ notified: fleet.instances.length - 1 });
  await expect.poll(async () => (await readPids()).filter((pid) => before.includes(pid)), { interval: 50 }).toEqual([]);
}

async function untilOk({ url }: Instance, route: string): Promise<void> {
  await expect.poll(async () => (await fetch(url + route)).status, { timeout: giveUpMs }).toBe(200);
}

/** Returns the time in ms until the condition is true on all instances. */
async function untilAll(instances: readonly Instance[], isTrue: (instance: Instance) => Promise<boolean>): Promise<number> {
  const fromMs = performance.now();
  const wait = async (instance: Instance) => {
    while (!(await isTrue(instance))) {
      if (performance.now() - fromMs > giveUpMs) throw new Error(`${instance.name} did not follow within ${giveUpMs} ms`);
      await delay(looksEveryMs);
    }
  };
  await Promise.all(instances.map(wait));
  return performance.now() - fromMs;
}

function missesOf(timesMs: readonly number[], limitMs: number): number {
  return timesMs.filter((timeMs) => timeMs > limitMs).length;
}

function report(what: string, timesMs: readonly number[], limitMs: number): void {
  const sorted = timesMs.toSorted((one, other) => one - other);
  const at = (share: number) => (sorted[Math.ceil(share * sorted.length) - 1] ?? NaN).toFixed(0);
  const [median, p99, worst, misses] = [at(0.5), at(0.99), at(1), missesOf(timesMs, limitMs)];
  console.log(`${what}: ${timesMs.length} rounds, median ${median}, p99 ${p99}, worst ${worst} ms; ${misses} above ${limitMs} ms`);
}
