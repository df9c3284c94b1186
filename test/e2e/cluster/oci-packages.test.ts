import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RuntimeEvent } from "../../../src/shared/contract/events.js";
import type { TestInstance } from "../../support/start-instances.js";
import {
  clusterTestMs,
  expectSoon,
  readText,
  soonMs,
  startOciInstances,
  uploadText,
  type OciInstances,
} from "../../support/start-oci-instances.js";

let instances: OciInstances;

beforeAll(async () => {
  instances = await startOciInstances();
});

afterAll(() => instances.dispose());

const find = async ({ client }: TestInstance, name: string) => (await client.workers.list()).find((worker) => worker.name === name);

/** Collects the daemon's own events of workers. Resolves when the daemon sends them. */
async function followWorkerEvents({ client }: TestInstance): Promise<{ seen: RuntimeEvent[]; stop: () => void }> {
  const seen: RuntimeEvent[] = [];
  const ending = new AbortController();
  const follow = async () => {
    const query = { type: "worker", instance: "self" };
    for await (const event of client.events.stream.follow({ query }, { signal: ending.signal })) seen.push(event);
  };
  void follow().catch(() => undefined);
  await expect.poll(() => seen).toHaveLength(1);
  return { seen, stop: () => ending.abort() };
}

test(
  "another daemon downloads an uploaded worker at the worker's first request",
  async () => {
    const [a, c] = [await instances.start("a"), await instances.start("c")];
    const events = await followWorkerEvents(c);
    await uploadText(a, "shop", "1.0.0", "first");
    expect(await readText(a, "shop")).toBe("first");
    await expect.poll(() => find(c, "shop"), { timeout: soonMs }).toMatchObject({ versions: ["1.0.0"], source: "uploaded" });
    expect(existsSync(path.join(instances.workersOf("c"), "shop"))).toBe(false);
    expect(await readText(c, "shop")).toBe("first");
    expect(await readdir(path.join(instances.workersOf("c"), "shop"))).toEqual(["1.0.0"]);

    await uploadText(a, "shop", "1.0.0", "replaced");
    await expectSoon(c, "shop", "replaced");
    await uploadText(c, "shop", "2.0.0", "of c");
    await expectSoon(a, "shop", "of c");

    await a.client.workers.disable({ params: { scope: "_", name: "shop", version: "2.0.0" } });
    await expectSoon(c, "shop", "replaced");
    const installed = events.seen.filter(({ type }) => type === "worker.installed");
    expect(installed[0]).toMatchObject({ subject: { name: "shop", version: "1.0.0" }, message: "by another daemon" });
    expect(installed[0]).not.toHaveProperty("principal");
    expect(installed.filter(({ message }) => message === "by another daemon")).toHaveLength(2);
    events.stop();
    const manifest = path.join(instances.workersOf("c"), "shop", "2.0.0", "manifest.yaml");
    await expect.poll(() => readFile(manifest, "utf8"), { timeout: soonMs }).toContain("enabled: false");
    await c.client.workers.enable({ params: { scope: "_", name: "shop", version: "2.0.0" } });
    await expectSoon(a, "shop", "of c");

    await a.client.workers.removeVersion({ params: { scope: "_", name: "shop", version: "2.0.0" } });
    await expectSoon(c, "shop", "replaced");
    expect(await readdir(path.join(instances.workersOf("c"), "shop"))).toEqual(["1.0.0"]);
    await c.client.workers.remove({ params: { scope: "_", name: "shop" } });
    await expectSoon(a, "shop", 404);
    await expect.poll(() => existsSync(path.join(instances.workersOf("a"), "shop")), { timeout: soonMs }).toBe(false);
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "a daemon enables a version that another daemon has just disabled",
  async () => {
    const [a, c] = [await instances.start("l"), await instances.start("m")];
    const params = { scope: "_", name: "toggled", version: "1.0.0" };
    await uploadText(a, "toggled", "1.0.0", "on");
    await expectSoon(c, "toggled", "on");
    for (let round = 0; round < 3; round += 1) {
      await a.client.workers.disable({ params });
      // Daemon c has not received the disabled version yet.
      await c.client.workers.enable({ params });
      await expectSoon(a, "toggled", "on");
      await expectSoon(c, "toggled", "on");
      expect(await find(a, "toggled")).toMatchObject({ versions: ["1.0.0"] });
    }
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "a daemon applies changes of other daemons that were made while it was stopped",
  async () => {
    const a = await instances.start("f");
    let c = await instances.start("g");
    for (const name of ["one", "two", "three"]) await uploadText(a, name, "1.0.0", name);
    for (const name of ["one", "two", "three"]) await expectSoon(c, name, name);
    await c.stop();
    await uploadText(a, "one", "1.0.0", "one replaced");
    await a.client.workers.remove({ params: { scope: "_", name: "two" } });
    await a.client.workers.disable({ params: { scope: "_", name: "three", version: "1.0.0" } });
    c = await instances.start("g");
    await expectSoon(c, "one", "one replaced");
    await expectSoon(c, "two", 404);
    await expectSoon(c, "three", 404);
    await c.stop();
    await rm(instances.workersOf("g"), { recursive: true });
    c = await instances.start("g");
    await expectSoon(c, "one", "one replaced");
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "two daemons serve the same content after simultaneous uploads of one version",
  async () => {
    const [a, c] = [await instances.start("j"), await instances.start("k")];
    for (let round = 0; round < 5; round += 1) {
      const uploads = await Promise.allSettled([
        uploadText(a, "race", "1.0.0", `a ${round}`),
        uploadText(c, "race", "1.0.0", `c ${round}`),
      ]);
      expect(uploads.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(1);
      await expect.poll(async () => (await readText(a, "race")) === (await readText(c, "race")), { timeout: soonMs }).toBe(true);
      expect(await readText(a, "race")).toMatch(new RegExp(`^[ac] ${round}$`));
    }
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);
