import { afterAll, beforeAll, expect, test } from "vitest";
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

test(
  "a daemon serves downloaded workers without the registry, even after a restart",
  async () => {
    const a = await instances.start("d");
    let c = await instances.start("e");
    await uploadText(a, "kept", "1.0.0", "kept");
    await uploadText(a, "never-used", "1.0.0", "never used");
    await expectSoon(c, "kept", "kept");
    await instances.registry.kill();
    await c.stop();
    c = await instances.start("e");
    expect(await readText(c, "kept")).toBe("kept");
    expect(await readText(c, "never-used")).toBe(503);
    const began = performance.now();
    await expect(uploadText(c, "kept", "1.0.0", "changed")).rejects.toMatchObject({ code: "PACKAGE_STORE_UNAVAILABLE", status: 503 });
    expect(performance.now() - began).toBeLessThan(4000);
    expect([await readText(a, "kept"), await readText(c, "kept")]).toEqual(["kept", "kept"]);
    await instances.registry.restart();
    await expectSoon(c, "never-used", "never used");
    await uploadText(c, "kept", "1.0.0", "changed");
    await expectSoon(a, "kept", "changed");
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "a daemon serves but rejects changes while registry or primary does not respond",
  async () => {
    let [a, c] = [await instances.start("h"), await instances.start("i")];
    await uploadText(a, "steady", "1.0.0", "steady");
    await expectSoon(c, "steady", "steady");
    await instances.registry.freeze();
    let began = performance.now();
    await expect(uploadText(c, "steady", "2.0.0", "late")).rejects.toMatchObject({ code: "PACKAGE_STORE_UNAVAILABLE", status: 503 });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(await readText(c, "steady")).toBe("steady");
    instances.registry.thaw();
    await instances.sqld.kill();
    began = performance.now();
    await expect(uploadText(c, "steady", "2.0.0", "late")).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE", status: 503 });
    const version = { scope: "_", name: "steady", version: "1.0.0" };
    await expect(a.client.workers.disable({ params: version })).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
    await expect(a.client.workers.removeVersion({ params: version })).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
    expect(performance.now() - began).toBeLessThan(10_000);
    await Promise.all([a.stop(), c.stop()]);
    [a, c] = [await instances.start("h"), await instances.start("i")];
    expect([await readText(a, "steady"), await readText(c, "steady")]).toEqual(["steady", "steady"]);
    await instances.sqld.restart();
    await expect.poll(() => uploadText(c, "steady", "2.0.0", "back").then(() => "done"), { timeout: soonMs }).toBe("done");
    await expectSoon(a, "steady", "back");
    expect((await find(a, "steady"))?.versions).toEqual(["2.0.0", "1.0.0"]);
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "a daemon serves a version's previous files while the registry is unreachable",
  async () => {
    const a = await instances.start("l");
    let c = await instances.start("m");
    await uploadText(a, "held", "1.0.0", "previous");
    await expectSoon(c, "held", "previous");
    await c.stop();
    await uploadText(a, "held", "1.0.0", "new");
    await instances.registry.kill();
    c = await instances.start("m");
    await expect.poll(() => c.output(), { timeout: soonMs }).toContain("a replaced version could not be downloaded");
    expect(await readText(c, "held")).toBe("previous");
    await instances.registry.restart();
    await expectSoon(c, "held", "new");
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);
