import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditEntry } from "../../../src/shared/contract/audit.js";
import type { RuntimeEvent } from "../../../src/shared/contract/events.js";
import type { LogEntry } from "../../../src/shared/contract/worker-logs.js";
import type { Client, FollowOptions } from "../../../src/shared/client.js";
import { connect } from "../../support/connect.js";
import { runInProcess } from "../../support/run-in-process.js";
import type { TestInstance } from "../../support/start-instances.js";
import { clusterTestMs, soonMs } from "../../support/start-oci-instances.js";
import { startSyncedInstances, type SyncedInstances } from "../../support/start-synced-instances.js";
import { uploadWorker } from "../../support/upload-worker.js";

let instances: SyncedInstances;

beforeAll(async () => {
  instances = await startSyncedInstances();
});

afterAll(() => instances.dispose());

const worker = "@team/app";
const params = { scope: "@team", name: "app" };

/** Starts daemons with a worker that logs the text after its path. */
async function startDaemons(...names: string[]): Promise<TestInstance[]> {
  const started = await Promise.all(names.map(async (name) => instances.start(name)));
  for (const { client } of started) await installWorker(client, worker);
  for (const { client } of started)
    await expect
      .poll(async () => (await client.instances.list()).filter(({ state, name }) => state === "ready" && names.includes(name)).length, {
        timeout: soonMs,
      })
      .toBe(names.length);
  return started;
}

async function installWorker(client: Client, name: string): Promise<void> {
  const code = "export default { fetch(request) { console.log(new URL(request.url).pathname.slice(1)); return new Response('ok'); } };";
  await uploadWorker(client, name, { "index.js": code });
}

const say = async ({ url }: TestInstance, text: string, name = worker) =>
  expect((await fetch(`${url}/${name}/${text}`)).status, text).toBe(200);

const linesOf = (entries: readonly LogEntry[]) => entries.map(({ instance, text }) => `${instance}: ${text}`);

/** Collects the entries of a stream. `stop` ends it. */
function collect<Entry>(follow: (options: FollowOptions) => AsyncIterable<Entry>, lastEventId?: string) {
  const controller = new AbortController();
  const seen: Entry[] = [];
  const stream = { seen, position: lastEventId, stop: () => controller.abort(), isOpen: false };
  const onPosition = (position: string) => (stream.position = position);
  const onOpen = () => (stream.isOpen = true);
  void (async () => {
    for await (const entry of follow({ signal: controller.signal, lastEventId, onPosition, onOpen })) seen.push(entry);
  })().catch((error: unknown) => {
    if (!controller.signal.aborted) throw error;
  });
  return stream;
}

test(
  "the logs of all daemons can be read as one list in pages and as one stream",
  async () => {
    const [a, b, c] = (await startDaemons("a", "b", "c")) as [TestInstance, TestInstance, TestInstance];
    const query = { source: "app" as const };
    for (const [index, daemon] of [b, a, c, b, a].entries()) await say(daemon, String(index));
    const all = ["b: 0", "a: 1", "c: 2", "b: 3", "a: 4"];

    const list = await a.client.workers.logs({ params, query });
    expect(linesOf(list.entries)).toEqual(all);
    expect(list.hasMore).toBe(false);
    expect(list).not.toHaveProperty("before");
    expect(list.instances?.map(({ name, problem }) => [name, problem])).toEqual([
      ["a", undefined],
      ["b", undefined],
      ["c", undefined],
    ]);
    const pages: string[][] = [];
    let before: string | undefined;
    do {
      const page = await c.client.logs.list({ query: { ...query, limit: 2, before } });
      pages.unshift(linesOf(page.entries));
      ({ before } = page);
    } while (before !== undefined);
    expect(pages).toEqual([["b: 0"], ["a: 1", "c: 2"], ["b: 3", "a: 4"]]);
    const own = await b.client.logs.list({ query: { ...query, instance: "self", limit: 1 } });
    expect(own).toEqual({ entries: [expect.objectContaining({ text: "3" })], hasMore: true, before: String(own.entries[0]?.id) });
    expect(own.entries[0]).not.toHaveProperty("instance");

    const follow = (options: FollowOptions) => a.client.workers.logs.follow({ params, query: { ...query, limit: 3 } }, options);
    const stream = collect(follow);
    await expect.poll(() => linesOf(stream.seen), { timeout: soonMs }).toEqual(all.slice(2));
    await say(c, "5");
    await expect.poll(() => linesOf(stream.seen), { timeout: soonMs }).toEqual([...all.slice(2), "c: 5"]);
    stream.stop();
    await say(b, "6");
    await say(a, "7");
    const resumed = collect(follow, stream.position);
    await expect.poll(() => linesOf(resumed.seen).toSorted(), { timeout: soonMs }).toEqual(["a: 7", "b: 6"]);

    const ofB = collect((options) => a.client.logs.list.follow({ query: { ...query, instance: "b", limit: 1 } }, options));
    await expect.poll(() => linesOf(ofB.seen), { timeout: soonMs }).toEqual(["b: 6"]);
    await b.stop();
    await expect.poll(() => resumed.seen.at(-1)?.text, { timeout: soonMs }).toContain("Entries of the daemon b are missing from here on.");
    expect(resumed.seen.at(-1)).toMatchObject({ instance: "b", worker, level: "warn", source: "runtime" });
    const again = await instances.start("b");
    await say(again, "8");
    await say(c, "9");
    await expect.poll(() => linesOf(resumed.seen), { timeout: soonMs }).toEqual(expect.arrayContaining(["b: 8", "c: 9"]));
    expect(linesOf(resumed.seen)).toContain("b: Entries of the daemon b continue here.");
    expect(linesOf(resumed.seen).filter((line) => line === "b: 8")).toHaveLength(1);
    for (const one of [resumed, ofB]) one.stop();
    await Promise.all([a.stop(), again.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "each change is one event and one audit entry in the streams of all daemons",
  async () => {
    const [a, b] = (await startDaemons("d", "e")) as [TestInstance, TestInstance];
    const events = collect<RuntimeEvent>((options) => a.client.events.stream.follow({ query: { type: "key,worker" } }, options));
    const audited = collect<AuditEntry>((options) => b.client.audit.list.follow({ query: { action: "key", limit: 1 } }, options));
    const typesOf = () => events.seen.map(({ type, instance, subject }) => `${type} ${instance} ${subject?.name ?? ""}`.trim());
    await expect.poll(typesOf, { timeout: soonMs }).toEqual(["stream.opened d"]);
    await expect.poll(() => audited.isOpen, { timeout: soonMs }).toBe(true);

    for (const [name, { client }] of [["one", a] as const, ["two", b] as const])
      await client.keys.create({ body: { name, role: "viewer" } });
    await b.client.workers.restart({ params: { ...params, version: "1.0.0" } });

    await expect
      .poll(typesOf, { timeout: soonMs })
      .toEqual(["stream.opened d", "key.created d one", "key.created e two", `worker.restarted e ${worker}`]);
    const repeats = collect<RuntimeEvent>((options) =>
      a.client.events.stream.follow({ query: { type: "worker.restarted", since: "1h", instance: "self" } }, options),
    );
    await expect.poll(() => repeats.seen.at(-1), { timeout: soonMs }).toMatchObject({ type: "worker.restarted", isRepeat: true });
    await expect
      .poll(() => audited.seen.map(({ subject, instance }) => `${subject?.name} ${instance}`), { timeout: soonMs })
      .toEqual(["one d", "two e"]);

    // A reader that continues receives only the events that it has missed.
    events.stop();
    await b.client.keys.create({ body: { name: "three", role: "viewer" } });
    const resumed = collect<RuntimeEvent>((options) => a.client.events.stream.follow({ query: { type: "key" } }, options), events.position);
    await expect
      .poll(() => resumed.seen.map(({ type, instance, subject }) => [type, instance, subject?.name]), { timeout: soonMs })
      .toEqual([["key.created", "e", "three"]]);
    for (const one of [audited, repeats, resumed]) one.stop();
    await Promise.all([a.stop(), b.stop()]);
  },
  clusterTestMs,
);

test(
  "with a key for one namespace, logs and events contain only this namespace",
  async () => {
    const [a, b] = (await startDaemons("f", "g")) as [TestInstance, TestInstance];
    for (const { client } of [a, b]) await installWorker(client, "@other/app");
    const { data } = await a.client.keys.create({ body: { name: "team", role: "admin", namespaces: ["@team"] } });
    const team = connect(a.url, data.key);
    await expect.poll(async () => connect(b.url, data.key).workers.list(), { timeout: soonMs }).toHaveLength(1);
    const logs = collect((options) => team.logs.list.follow({ query: { source: "app" } }, options));
    const events = collect<RuntimeEvent>((options) => team.events.stream.follow({ query: { type: "worker.restarted" } }, options));
    await expect.poll(() => [logs.isOpen, events.seen.length], { timeout: soonMs }).toEqual([true, 1]);

    for (const daemon of [a, b]) {
      await say(daemon, "secret", "@other/app");
      await say(daemon, "shared");
      await daemon.client.workers.restart({ params: { scope: "@other", name: "app", version: "1.0.0" } });
      await daemon.client.workers.restart({ params: { ...params, version: "1.0.0" } });
    }

    await expect.poll(() => linesOf(logs.seen), { timeout: soonMs }).toEqual(["f: shared", "g: shared"]);
    await expect.poll(() => events.seen.map(({ instance }) => instance), { timeout: soonMs }).toEqual(["f", "f", "g"]);
    expect(new Set(events.seen.slice(1).map(({ subject }) => subject?.name))).toEqual(new Set([worker]));
    const list = await team.logs.list({ query: {} });
    expect(new Set(list.entries.map((entry) => entry.worker))).toEqual(new Set([worker]));
    await expect(team.workers.logs({ params: { ...params, scope: "@other" } })).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
    const installed = await team.audit.list({ query: { action: "worker.installed" } });
    expect(installed.entries.map(({ subject, instance }) => `${instance} ${subject?.name}`).toSorted()).toEqual([
      `f ${worker}`,
      `g ${worker}`,
    ]);
    for (const one of [logs, events]) one.stop();
    await Promise.all([a.stop(), b.stop()]);
  },
  clusterTestMs,
);

test(
  "any daemon returns a worker's logs; requests for an unreachable daemon fail",
  async () => {
    const [a] = (await startDaemons("h")) as [TestInstance];
    const b = await instances.start("i");
    await expect
      .poll(async () => (await a.client.instances.list()).find(({ name }) => name === "i")?.state, { timeout: soonMs })
      .toBe("ready");
    await say(a, "first");
    const fromB = await b.client.workers.logs({ params, query: { source: "app" } });
    expect(linesOf(fromB.entries)).toEqual(["h: first"]);
    expect(fromB.instances?.filter(({ name }) => name === "h" || name === "i").map(({ problem }) => problem)).toEqual([
      undefined,
      undefined,
    ]);
    const stream = collect((options) => b.client.workers.logs.follow({ params, query: { source: "app" } }, options));
    await say(a, "streamed");
    await expect.poll(() => linesOf(stream.seen), { timeout: soonMs }).toEqual(["h: first", "h: streamed"]);
    stream.stop();
    const none = { params: { ...params, name: "none" } };
    await expect(a.client.workers.logs(none)).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
    const { signal } = new AbortController();
    await expect(a.client.workers.logs.follow(none, { signal }).next()).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
    await expect(a.client.logs.list({ query: { instance: "none" } })).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
    await expect(a.client.events.stream.follow({ query: { instance: "none" } }, { signal }).next()).rejects.toMatchObject({
      code: "INSTANCE_NOT_FOUND",
    });

    await b.kill();
    await expect(a.client.logs.list({ query: { instance: "i" } })).rejects.toMatchObject({ code: "INSTANCE_UNAVAILABLE" });
    await expect(a.client.events.stream.follow({ query: { instance: "i" } }, { signal }).next()).rejects.toMatchObject({
      code: "INSTANCE_UNAVAILABLE",
    });
    const env = { HOME: a.directory, TMPDIR: a.directory, RUNTIMECTL_KEY: a.rootKey };
    const printed = await runInProcess(["workers", "logs", worker, "--source", "app", "--url", a.url], { cwd: a.directory, env });
    expect(printed.stdout).toMatch(/\tapp\th\tfirst\n/);
    expect(printed.stderr).toContain("entries of i are missing: It is not reachable (ECONNREFUSED).");
    const events = collect<RuntimeEvent>((options) => a.client.events.stream.follow({ query: { type: "key" } }, options));
    await expect
      .poll(() => events.seen.filter(({ instance }) => instance === "i"), { timeout: soonMs })
      .toMatchObject([{ type: "stream.gap", message: expect.stringContaining("Entries of the daemon i are missing") }]);
    events.stop();
    await a.stop();
  },
  clusterTestMs,
);
