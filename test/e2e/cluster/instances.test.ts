import { afterAll, beforeAll, expect, test } from "vitest";
import type { Instance } from "../../../src/shared/contract/instances.js";
import { connect } from "../../support/connect.js";
import { runInProcess } from "../../support/run-in-process.js";
import type { TestInstance } from "../../support/start-instances.js";
import { clusterTestMs, soonMs } from "../../support/start-oci-instances.js";
import { startSyncedInstances, type SyncedInstances } from "../../support/start-synced-instances.js";

let instances: SyncedInstances;

beforeAll(async () => {
  instances = await startSyncedInstances();
});

afterAll(() => instances.dispose());

const statesOf = async ({ client }: TestInstance): Promise<Record<string, string>> =>
  Object.fromEntries((await client.instances.list()).map(({ name, state }) => [name, state]));
const find = (list: readonly Instance[], name: string) => list.find((instance) => instance.name === name);
const readiness = async ({ url }: TestInstance) => (await fetch(`${url}/api/health/ready`)).status;

test(
  "each daemon lists all daemons with their states, and can drain another daemon",
  async () => {
    const [a, b] = await Promise.all([instances.start("a"), instances.start("b")]);
    await expect.poll(() => statesOf(a), { timeout: soonMs }).toEqual({ a: "ready", b: "ready" });
    await expect.poll(() => statesOf(b), { timeout: soonMs }).toEqual({ a: "ready", b: "ready" });

    const list = await a.client.instances.list();
    expect(find(list, "a")).toMatchObject({ address: a.url, isSelf: true, isolates: 0, lagSeconds: expect.any(Number) });
    expect(find(list, "b")).toMatchObject({ address: b.url, isSelf: false, isolates: 0, lagSeconds: expect.any(Number) });
    expect(find(await b.client.instances.list(), "b")?.id).toBe(find(list, "b")?.id);

    const { data: restricted } = await a.client.keys.create({ body: { name: "team", role: "admin", namespaces: ["@team"] } });
    const seen = async () => find(await connect(a.url, restricted.key).instances.list(), "b");
    await expect.poll(async () => (await seen())?.state, { timeout: soonMs }).toBe("ready");
    expect(await seen()).toMatchObject({ address: null, lagSeconds: null, isolates: 0 });
    const drainAsTeam = connect(a.url, restricted.key).instances.drain({ params: { instance: "b" } });
    await expect(drainAsTeam).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
    await expect(a.client.instances.drain({ params: { instance: "c" } })).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
    expect(await readiness(b)).toBe(200);

    await a.client.instances.drain({ params: { instance: "b" } });
    await expect.poll(() => readiness(b), { timeout: soonMs }).toBe(503);
    expect(await statesOf(b)).toEqual({ a: "ready", b: "draining" });
    await expect.poll(() => statesOf(a), { timeout: soonMs }).toEqual({ a: "ready", b: "draining" });
    expect((await fetch(`${b.url}/api/health/live`)).status).toBe(200);
    expect((await b.client.audit.list({ query: { action: "instance", limit: 5, instance: "self" } })).entries).toEqual([]);
    const { entries } = await a.client.audit.list({ query: { action: "instance.drained", limit: 5 } });
    expect(entries.at(-1)).toMatchObject({ outcome: "done", subject: { name: "b" } });

    const everywhere = await b.client.audit.list({ query: { action: "instance,key", instance: "all" } });
    expect(everywhere.entries.map(({ action, instance }) => [action, instance])).toEqual([
      ["key.created", "a"],
      ["instance.drained", "a"],
      ["instance.drained", "a"],
      ["instance.drained", "a"],
    ]);
    expect(everywhere.instances?.map(({ name, problem }) => [name, problem])).toEqual([
      ["b", undefined],
      ["a", undefined],
    ]);
    const ofA = await b.client.audit.list({ query: { limit: 1, instance: "a" } });
    expect(ofA).toMatchObject({ entries: [{ action: "instance.drained", outcome: "done", instance: "a" }], hasMore: true });
    await expect(b.client.audit.list({ query: { instance: "none" } })).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });

    const env = { HOME: b.directory, TMPDIR: b.directory, RUNTIMECTL_KEY: b.rootKey };
    const audit = async (...words: string[]) => {
      const { stdout } = await runInProcess(["audit", "--json", "--url", b.url, ...words], { cwd: b.directory, env });
      return JSON.parse(stdout) as { entries: { instance?: string }[]; instances?: { name: string }[] };
    };
    expect((await audit()).instances?.map(({ name }) => name)).toEqual(["b", "a"]);
    expect(new Set((await audit("--instance", "a")).entries.map(({ instance }) => instance))).toEqual(new Set(["a"]));

    await a.client.instances.undrain({ params: { instance: find(list, "b")?.id ?? "" } });
    await expect.poll(() => readiness(b), { timeout: soonMs }).toBe(200);
    await Promise.all([a.stop(), b.stop()]);
  },
  clusterTestMs,
);

test(
  "a stopped daemon is listed as `gone`, and its next start ends its drain",
  async () => {
    const a = await instances.start("c");
    let b = await instances.start("d");
    await expect.poll(async () => (await statesOf(a))["d"], { timeout: soonMs }).toBe("ready");
    const { id } = find(await a.client.instances.list(), "d") ?? {};
    await a.client.instances.drain({ params: { instance: "d" } });
    await expect.poll(() => readiness(b), { timeout: soonMs }).toBe(503);
    await b.stop();

    expect(find(await a.client.instances.list(), "d")).toMatchObject({ state: "gone", id, problem: expect.stringContaining("heartbeat") });
    b = await instances.start("d");

    expect(await readiness(b)).toBe(200);
    await expect.poll(async () => find(await a.client.instances.list(), "d"), { timeout: soonMs }).toMatchObject({ state: "ready", id });
    await Promise.all([a.stop(), b.stop()]);
  },
  clusterTestMs,
);

test(
  "a rebuilt daemon has the name of the daemon that it replaces",
  async () => {
    const a = await instances.start("i");
    const before = await instances.start("j");
    await expect.poll(async () => (await statesOf(a))["j"], { timeout: soonMs }).toBe("ready");
    const replacedId = find(await a.client.instances.list(), "j")?.id;
    await before.stop();
    const rebuilt = await instances.start("j-2", { RUNTIME_INSTANCE_NAME: "j" });
    const idsByState = async () =>
      Object.fromEntries((await a.client.instances.list()).flatMap(({ name, id, state }) => (name === "j" ? [[state, id]] : [])));
    const expected = { gone: replacedId, ready: expect.not.stringMatching(replacedId ?? "") as string };
    await expect.poll(idsByState, { timeout: soonMs }).toEqual(expected);

    const { data } = await a.client.instances.drain({ params: { instance: "j" } });
    expect(data.id).not.toBe(replacedId);
    await expect.poll(() => readiness(rebuilt), { timeout: soonMs }).toBe(503);
    await rebuilt.client.keys.create({ body: { name: "of the rebuilt daemon", role: "viewer" } });
    const { entries, instances: listed } = await a.client.audit.list({ query: { action: "key", instance: "all" } });
    expect(entries.at(-1)).toMatchObject({ action: "key.created", instance: "j" });
    expect(listed?.map(({ name }) => name)).toContain("j");
    expect(listed?.map(({ id }) => id)).not.toContain(replacedId);
    await expect(a.client.audit.list({ query: { instance: "j" } })).resolves.toMatchObject({ hasMore: expect.any(Boolean) });
    await Promise.all([a.stop(), rebuilt.stop()]);
  },
  clusterTestMs,
);

test(
  "a daemon is listed as `unreachable` within 2 s if killed, frozen or without URL",
  async () => {
    const [a, killed, frozen, silent] = await Promise.all([
      instances.start("e"),
      instances.start("f"),
      instances.start("g"),
      instances.start("h", { RUNTIME_INSTANCE_URL: "" }),
    ]);
    const running = { e: "ready", f: "ready", g: "ready", h: "unreachable" };
    await expect.poll(() => statesOf(a), { timeout: soonMs }).toMatchObject(running);
    await silent.client.keys.create({ body: { name: "of h", role: "viewer" } });
    await killed.kill();
    frozen.process.kill("SIGSTOP");

    const startedMs = performance.now();
    const list = await a.client.instances.list();
    const tookMs = performance.now() - startedMs;

    frozen.process.kill("SIGCONT");
    expect(find(list, "f")).toMatchObject({ state: "unreachable", problem: expect.stringContaining("not reachable") });
    expect(find(list, "g")).toMatchObject({ state: "unreachable", problem: "It did not respond within 2 s." });
    expect(find(list, "h")).toMatchObject({
      state: "unreachable",
      address: null,
      problem: expect.stringContaining("RUNTIME_INSTANCE_URL"),
    });
    expect(find(list, "e")).toMatchObject({ state: "ready", isSelf: true });
    const audited = await a.client.audit.list({ query: { instance: "all" } });
    expect(audited.entries.filter(({ instance }) => instance === "h")).toEqual([]);
    expect(audited.instances?.filter(({ problem }) => problem !== undefined).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["f", "h"]),
    );
    await expect(a.client.audit.list({ query: { instance: "f" } })).rejects.toMatchObject({ code: "INSTANCE_UNAVAILABLE" });
    // The limit is 2 s. The rest is for a slow machine.
    expect(tookMs).toBeLessThan(5_000);

    await instances.sqld.kill();
    await expect.poll(() => statesOf(a), { timeout: soonMs }).toMatchObject({ e: "ready", f: "unreachable", g: "ready" });
    const problem = "The primary of the key store cannot be reached (ECONNREFUSED).";
    for (const name of ["e", "g"])
      await expect.poll(async () => find(await a.client.instances.list(), name), { timeout: soonMs }).toMatchObject({ problem });
    await instances.sqld.restart();
    await Promise.all([a.stop(), frozen.stop(), silent.stop()]);
  },
  clusterTestMs,
);
