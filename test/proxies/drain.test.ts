import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CountingLoad } from "../support/counting-load.js";
import { runRuntimectl } from "../support/run-runtimectl.js";
import { uploadWorker } from "../support/upload-worker.js";
import { type Instance, InstanceHarness } from "./instance-harness.js";

/** Interval at which the test's active check reads the readiness of each daemon. */
const checkEveryMs = 250;
const settledMs = 20_000;
/** Time in ms for which the app works on a request of the path `/slow`. */
const slowMs = 700;

const app = `export default { fetch: async (request) => {
  if (new URL(request.url).pathname === "/slow") await new Promise((resolve) => setTimeout(resolve, ${slowMs}));
  return new Response(request.method === "POST" ? await request.text() : "well");
} };`;

const isReady = async ({ url }: Instance) => (await fetch(`${url}/api/health/ready`).catch(() => undefined))?.status === 200;
const statesOf = async ({ client }: Instance) => (await client.instances.list()).map(({ name, state }) => `${name} ${state}`).toSorted();

/** Lets nginx send requests only to the daemons whose readiness check passes, like an active check of a load balancer. Ends with the test. */
function followReadiness(fleet: InstanceHarness): { routed: () => readonly string[] } {
  let routed = fleet.instances.map(({ name }) => name);
  const stopping = new AbortController();
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      const states = await Promise.all(fleet.instances.map(async (instance) => ({ instance, isUp: await isReady(instance) })));
      const up = states.filter(({ isUp }) => isUp).map(({ instance }) => instance);
      if (up.length > 0 && up.map(({ name }) => name).join() !== routed.join()) {
        await fleet.nginx.route(up.map(({ url }) => Number(new URL(url).port)));
        routed = up.map(({ name }) => name);
      }
      await delay(checkEveryMs);
    }
  })();
  onTestFinished(async () => {
    stopping.abort();
    await ended;
  });
  return { routed: () => routed };
}

async function openFleet() {
  const fleet = await InstanceHarness.open({ holdsSockets: false });
  await uploadWorker(fleet.instance("A").client, "app", { "index.js": app });
  await fleet.expectEverywhere("/app/", "well");
  const gets = ["", "slow"].map((path) => new CountingLoad(`${fleet.url}/app/${path}`, { ca: fleet.ca, connections: 2, pauseMs: 10 }));
  onTestFinished(async () => void (await Promise.all(gets.map((load) => load.stop()))));
  return { fleet, gets };
}

function drain(through: Instance, words: readonly string[]) {
  return runRuntimectl({ ...through.daemon(), url: through.url }, ["instances", "drain", ...words]);
}

test("a rolling restart with drains fails no request if the proxy checks the readiness", { timeout: 240_000 }, async () => {
  const { fleet, gets } = await openFleet();
  // nginx does not send a POST to a second daemon, so each lost one is visible.
  const posts = new CountingLoad(`${fleet.url}/app/`, { ca: fleet.ca, connections: 1, pauseMs: 10, post: "sent" });
  onTestFinished(() => posts.stop());
  const { routed } = followReadiness(fleet);
  const names = fleet.instances.map(({ name }) => name);

  for (const [index, instance] of fleet.instances.entries()) {
    const other = fleet.instances[(index + 1) % fleet.instances.length] as Instance;
    await expect.poll(() => statesOf(other), { timeout: settledMs }).toEqual(names.map((name) => `${name} ready`));
    const drained = await drain(other, [instance.name]);
    expect(drained, drained.stderr).toMatchObject({ status: 0 });
    await expect.poll(routed, { timeout: settledMs }).toEqual(names.filter((name) => name !== instance.name));
    // nginx sends no new request now, so the second wait ends with the last request that it sent before.
    expect((await drain(other, [instance.name])).status).toBe(0);
    await instance.stop();
    await instance.start();
    await expect.poll(routed, { timeout: settledMs }).toEqual(names);
  }
  await Promise.all([...gets, posts].map((load) => load.stop()));

  const [fast, slow] = gets.map(({ answers }) => answers);
  console.log("active check:", { fast, slow, posts: posts.answers });
  expect([...(fast?.keys() ?? []), ...(slow?.keys() ?? [])]).toEqual(["200 well", "200 well"]);
  expect([...posts.answers.keys()]).toEqual(["200 sent"]);
});

test("a rolling restart with drains fails no GET request behind a passive health check", { timeout: 240_000 }, async () => {
  const { fleet, gets } = await openFleet();
  const names = fleet.instances.map(({ name }) => name);

  for (const [index, instance] of fleet.instances.entries()) {
    const other = fleet.instances[(index + 1) % fleet.instances.length] as Instance;
    await expect.poll(() => statesOf(other), { timeout: settledMs }).toEqual(names.map((name) => `${name} ready`));
    expect((await drain(other, [instance.name, "--drain-timeout", "0"])).status).toBe(0);
    await expect.poll(() => isReady(instance), { timeout: settledMs }).toBe(false);
    expect((await drain(other, [instance.name, "--undo"])).status).toBe(0);
    await expect.poll(() => isReady(instance), { timeout: settledMs }).toBe(true);
    expect((await drain(other, [instance.name, "--drain-timeout", "0"])).status).toBe(0);
    await expect.poll(() => isReady(instance), { timeout: settledMs }).toBe(false);
    await instance.stop();
    await instance.start();
    expect(await isReady(instance)).toBe(true);
  }
  await Promise.all(gets.map((load) => load.stop()));

  const [fast, slow] = gets.map(({ answers }) => answers);
  console.log("passive check:", { fast, slow });
  expect([...(fast?.keys() ?? []), ...(slow?.keys() ?? [])]).toEqual(["200 well", "200 well"]);
});
