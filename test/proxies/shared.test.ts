import { expect, test } from "vitest";
import { uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { answerAt, InstanceHarness, uploadApp, type Instance } from "./instance-harness.js";

/** The documented maximum for a change by another instance. A new key is allowed to take twice as long. */
const promisedMs = 2_000;
const revocations = 100;
const revocationsAtOnce = 10;
const changesOfApps = 20;

/** Waits for this response of an instance and returns the time in milliseconds. */
async function untilAnswered({ url }: Instance, { route, answer, headers = {} }: Expected): Promise<number> {
  const fromMs = performance.now();
  await expect.poll(() => answerAt(url, route, headers), { interval: 20, timeout: 30_000 }).toBe(answer);
  return performance.now() - fromMs;
}

interface Expected {
  readonly route: string;
  readonly answer: string;
  readonly headers?: Record<string, string>;
}

/** Returns `taken` if an instance accepts a key, `refused` if it rejects the key, and otherwise its response. */
async function shows({ url }: Instance, key: string): Promise<string> {
  const answer = await answerAt(url, "/api/admin/session", { "x-api-key": key });
  if (answer === "401") return "refused";
  return answer.startsWith("{") ? "taken" : answer;
}

/** Waits until an instance accepts or rejects a key, and returns the time in milliseconds. */
async function untilShown(instance: Instance, key: string, wanted: "taken" | "refused"): Promise<number> {
  const fromMs = performance.now();
  await expect.poll(() => shows(instance, key), { interval: 20, timeout: 30_000 }).toBe(wanted);
  return performance.now() - fromMs;
}

/** Prints the times and returns the longest. */
function longestOf(what: string, timesMs: readonly number[]): number {
  const sorted = timesMs.toSorted((left, right) => left - right);
  const [median = NaN, longest = NaN] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  console.log(`${what}: ${timesMs.length} times, median ${median.toFixed(0)} ms, longest ${longest.toFixed(0)} ms`);
  return longest;
}

test("other daemons accept a new key within 4 s, and reject a revoked key within 2 s", { timeout: 240_000 }, async () => {
  const harness = await InstanceHarness.open();
  const [a, b, c] = harness.instances as [Instance, Instance, Instance];
  const [madeMs, revokedMs]: [number[], number[]] = [[], []];
  const makeAndRevoke = async (round: number) => {
    const { data } = await a.client.keys.create({ body: { name: `round ${round}`, role: "viewer" } });
    expect(await shows(a, data.key)).toBe("taken");
    madeMs.push(...(await Promise.all([b, c].map((other) => untilShown(other, data.key, "taken")))));
    expect(await answerAt(harness.url, "/api/workers", { "x-api-key": data.key })).toContain("cpanel");
    await a.client.keys.revoke({ params: { id: String(data.id) } });
    expect(await shows(a, data.key)).toBe("refused");
    revokedMs.push(...(await Promise.all([b, c].map((other) => untilShown(other, data.key, "refused")))));
  };

  for (let round = 0; round < revocations; round += revocationsAtOnce)
    await Promise.all(Array.from({ length: revocationsAtOnce }, (_, index) => makeAndRevoke(round + index)));

  expect(revokedMs).toHaveLength(2 * revocations);
  expect(longestOf("a new key is taken elsewhere", madeMs)).toBeLessThan(2 * promisedMs);
  expect(longestOf("a revoked key is refused elsewhere", revokedMs)).toBeLessThanOrEqual(promisedMs);
});

test("other daemons apply changes of a worker within 2 s", { timeout: 240_000 }, async () => {
  const harness = await InstanceHarness.open();
  const [a, b, c] = harness.instances as [Instance, Instance, Instance];
  const seenMs: number[] = [];
  const expectElsewhere = async (expected: Expected) => {
    expect(await answerAt(a.url, expected.route)).toBe(expected.answer);
    seenMs.push(...(await Promise.all([b, c].map((other) => untilAnswered(other, expected)))));
  };
  const [params, version] = [{ scope: "_", name: "app" }, "1.0.0"];

  for (let turn = 0; turn < changesOfApps; turn += 1) {
    await uploadApp(a.client, "app", `edition ${turn}`);
    await expectElsewhere({ route: "/app/", answer: `edition ${turn}` });
    await a.client.workers.disable({ params: { ...params, version } });
    await expectElsewhere({ route: "/app/", answer: "404" });
    await a.client.workers.enable({ params: { ...params, version } });
    await expectElsewhere({ route: "/app/", answer: `edition ${turn}` });
    if (turn % 5 !== 4) continue;
    await a.client.workers.remove({ params });
    await expectElsewhere({ route: "/app/", answer: "404" });
  }

  expect(longestOf("a change of an app is seen elsewhere", seenMs)).toBeLessThanOrEqual(promisedMs);
});

test("all daemons apply a plugin change within 2 s when it arrives through nginx", { timeout: 120_000 }, async () => {
  const harness = await InstanceHarness.open();
  const seenMs: number[] = [];
  const expectEverywhere = async (answer: string) =>
    void seenMs.push(...(await Promise.all(harness.instances.map((instance) => untilAnswered(instance, { route: "/teller", answer })))));

  for (let edition = 0; edition < 5; edition += 1) {
    const files = {
      "manifest.yaml": manifestOf("teller", "1.0.0", "base: /teller\n"),
      "plugin.js": `export default () => ({ routes: { fetch: () => new Response("edition ${edition}") } });`,
    };
    await harness.client.plugins.upload({ file: uploadOf("teller.tgz", await packFiles(files)) });
    await expectEverywhere(`edition ${edition}`);
  }
  await harness.client.plugins.disable({ params: { name: "teller" } });
  await expectEverywhere("404");
  await harness.client.plugins.enable({ params: { name: "teller" } });
  await expectEverywhere("edition 4");
  await harness.client.plugins.remove({ params: { name: "teller" } });
  await expectEverywhere("404");

  expect(longestOf("a change of a plugin is seen elsewhere", seenMs)).toBeLessThanOrEqual(promisedMs);
});
