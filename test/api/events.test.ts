import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client, FollowOptions } from "../../src/shared/client.js";
import type { RuntimeEvent } from "../../src/shared/contract/events.js";
import { operations } from "../../src/shared/contract/index.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

let daemon: TestDaemon;
let root: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
});
afterAll(() => daemon.dispose());

const crashing = `export default { fetch(request) {
  if (new URL(request.url).pathname === "/die") process.exit(3);
  return new Response("alive");
} };`;

async function install(name: string, version = "1.0.0"): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf(name, version), "index.js": crashing });
  await root.workers.upload({ file: uploadOf("worker.tgz", archive) });
}

/** Follows the event stream until it is stopped. `shown` contains no events about the stream itself. */
async function follow(
  client: Client,
  query: Parameters<Client["events"]["stream"]["follow"]>[0]["query"] = {},
  options: Partial<FollowOptions> = {},
) {
  const controller = new AbortController();
  const seen: RuntimeEvent[] = [];
  const done = (async () => {
    for await (const event of client.events.stream.follow({ query }, { signal: controller.signal, ...options })) seen.push(event);
    return "ended";
  })().catch((error: unknown) => (controller.signal.aborted ? "stopped" : error));
  await Promise.race([done, expect.poll(() => seen.length).toBeGreaterThan(0)]);
  const shown = () =>
    seen.filter(({ type }) => !type.startsWith("stream.")).map(({ type, subject }) => `${type} ${subject?.name ?? ""}`.trim());
  return { seen, shown, done, stop: () => (controller.abort(), done) };
}

test("every operation that changes data declares an event, except session.remove", () => {
  const changing = operations.filter(({ id, endpoint }) => endpoint.method !== "GET" && id !== "session.remove");
  expect(changing.filter(({ endpoint }) => endpoint.change === undefined).map(({ id }) => id)).toEqual([]);
  expect(operations.filter(({ endpoint }) => endpoint.method === "GET" && endpoint.change !== undefined)).toEqual([]);
});

describe("the event stream", () => {
  test("reports each change with its principal, request ID and subject", async () => {
    const reader = await follow(root);
    const { data: key } = await root.keys.create({ body: { name: "deployer", role: "admin" } });
    const deployer = connect(daemon.url, key.key);
    const archive = await packFiles({ "manifest.yaml": manifestOf("@team/app", "1.0.0"), "index.html": "one" });
    await deployer.workers.upload({ file: uploadOf("app.tgz", archive) });
    const version = { scope: "@team", name: "app", version: "1.0.0" };
    await fetch(`${daemon.url}/api/workers/@team/app/1.0.0/disable`, {
      method: "POST",
      headers: { "x-api-key": daemon.rootKey, "x-request-id": "the-request" },
    });
    await deployer.workers.enable({ params: version });
    await deployer.workers.restart({ params: version });
    await deployer.workers.removeVersion({ params: version });
    await deployer.plugins.reload();
    const { data: replacement } = await root.keys.rotate({ params: { id: String(key.id) }, body: { overlap: "1h" } });
    await root.keys.revoke({ params: { id: String(replacement.id) } });
    await expect.poll(() => reader.seen.at(-1)?.type).toBe("key.revoked");

    expect(reader.shown()).toEqual([
      "key.created deployer",
      "worker.answering @team/app",
      "worker.installed @team/app",
      "worker.answering @team/app",
      "worker.health @team/app",
      "worker.disabled @team/app",
      "worker.answering @team/app",
      "worker.health @team/app",
      "worker.enabled @team/app",
      "worker.restarted @team/app",
      "worker.answering @team/app",
      "worker.version-deleted @team/app",
      "plugin.reloaded",
      "key.rotated deployer",
      "key.revoked deployer",
    ]);
    const ofType = (type: string) => reader.seen.find((event) => event.type === type);
    expect(ofType("worker.installed")).toEqual({
      id: expect.any(Number),
      type: "worker.installed",
      at: expect.closeTo(Date.now(), -5),
      principal: { id: key.id, name: "deployer", keyPrefix: key.keyPrefix },
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      subject: { name: "@team/app", version: "1.0.0" },
    });
    expect(ofType("worker.disabled")).toMatchObject({ requestId: "the-request", principal: { id: 0, name: "root", keyPrefix: "root" } });
    expect(ofType("key.rotated")?.subject).toEqual({ id: key.id, replacedBy: replacement.id, name: "deployer", namespaces: ["*"] });
    const told = JSON.stringify(reader.seen);
    for (const secret of [key.key, replacement.key, daemon.rootKey]) expect(told).not.toContain(secret);
    const ids = reader.seen.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    await reader.stop();
  });

  test("sends paths of changed files only to keys that can read the worker", async () => {
    await install("@team/filed");
    const { data } = await root.keys.create({ body: { name: "other", role: "viewer", namespaces: ["@other"] } });
    const [reader, other] = [await follow(root, { type: "worker" }), await follow(connect(daemon.url, data.key))];
    const body = { path: "workers/@team/filed/1.0.0/assets" };
    await root.workerFiles.mkdir({ body });
    await install("@other/after");
    await expect.poll(other.shown).toEqual(["worker.answering @other/after", "worker.installed @other/after"]);
    const changed = reader.seen.find(({ type }) => type === "worker.files-changed");
    expect(changed?.subject).toEqual({ name: "@team/filed", paths: [body.path] });
    for (const one of [reader, other]) await one.stop();
  });

  test("reports workers that crash or fail to start", async () => {
    await install("crasher");
    const reader = await follow(root, { worker: "crasher" });
    await (await fetch(`${daemon.url}/crasher/die`)).text();
    await expect.poll(() => reader.shown()).toEqual(["worker.crashed crasher", "worker.health crasher"]);
    expect(reader.seen.slice(-2)).toMatchObject([
      { subject: { version: "1.0.0" }, message: expect.stringMatching(/^The isolate .*3.*\.$/) },
      { subject: { version: "1.0.0" }, message: "100 % of requests failed since 1.0.0." },
    ]);
    const archive = await packFiles({ "manifest.yaml": manifestOf("crasher", "1.1.0"), "index.js": "throw new Error('not today')" });
    await root.workers.upload({ file: uploadOf("worker.tgz", archive) });
    await (await fetch(`${daemon.url}/crasher/`)).text();
    await expect.poll(() => reader.shown()).toContain("worker.start-failed crasher");
    await reader.stop();
  });

  test("sends worker.backoff to a client that requests the old name worker.left-alone", async () => {
    const archive = await packFiles({ "manifest.yaml": manifestOf("exits", "1.0.0"), "index.js": "process.exit(1)" });
    await root.workers.upload({ file: uploadOf("worker.tgz", archive) });
    const reader = await follow(root, { type: "worker.left-alone" });
    const request = async () => {
      await (await fetch(`${daemon.url}/exits/`)).text();
      return reader.shown();
    };
    await expect.poll(request).toContain("worker.backoff exits");
    expect(new Set(reader.shown())).toEqual(new Set(["worker.backoff exits"]));
    await reader.stop();
  });

  test("contains only events that the key is allowed to read", async () => {
    const readerWith = async (permissions: ("workers:read" | "plugins:read" | "keys:read" | "keys:create")[], namespaces = ["*"]) => {
      const { data } = await root.keys.create({ body: { name: "reader", role: "custom", permissions, namespaces } });
      return follow(connect(daemon.url, data.key));
    };
    const [workers, plugins, keys, team, none] = [
      await readerWith(["workers:read"]),
      await readerWith(["plugins:read"]),
      await readerWith(["keys:read"]),
      await readerWith(["workers:read", "plugins:read"], ["@team"]),
      await readerWith(["keys:create"]),
    ];
    await install("@team/seen");
    await install("@other/unseen");
    await root.plugins.reload();
    await root.session.create({ body: { key: daemon.rootKey } });
    await root.keys.create({ body: { name: "last", role: "viewer" } });
    // Ignores events about event streams that were opened later.
    const ofKeys = () => keys.shown().filter((event) => event !== "key.created reader");
    await expect.poll(ofKeys).toEqual(["session.opened", "key.created last"]);
    const both = ["worker.answering @team/seen", "worker.installed @team/seen"];
    expect(workers.shown()).toEqual([...both, "worker.answering @other/unseen", "worker.installed @other/unseen"]);
    expect(plugins.shown()).toEqual(["plugin.reloaded"]);
    expect(team.shown()).toEqual(both);
    expect(none.shown()).toEqual([]);
    for (const reader of [workers, plugins, keys, team, none]) await reader.stop();
  });

  test("filters events by type and by worker", async () => {
    const [byNoun, byType, byWorker] = [
      await follow(root, { type: "key,worker.installed" }),
      await follow(root, { type: "worker.deleted" }),
      await follow(root, { worker: "second" }),
    ];
    await install("first");
    await install("second");
    await root.workers.remove({ params: { scope: "_", name: "first" } });
    await root.keys.create({ body: { name: "asked for", role: "viewer" } });
    await expect.poll(() => byNoun.shown()).toEqual(["worker.installed first", "worker.installed second", "key.created asked for"]);
    expect(byType.shown()).toEqual(["worker.deleted first"]);
    expect(byWorker.shown()).toEqual(["worker.answering second", "worker.installed second"]);
    for (const reader of [byNoun, byType, byWorker]) await reader.stop();
  });

  test.each(["type=worker.exploded", "type=", "type=worker,", "since=yesterday", "worker="])(
    "rejects the query string %s",
    async (query) => {
      const response = await fetch(`${daemon.url}/api/events?${query}`, { headers: { "x-api-key": daemon.rootKey } });
      expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([400, "INVALID_REQUEST"]);
    },
  );

  test("continues without lost or duplicate events after an event ID or a time", async () => {
    const reader = await follow(root, { type: "key" });
    // No event occurred while this reader was connected, but it has an ID to resume from.
    const lastEventId = String(reader.seen.at(-1)?.id);
    await reader.stop();
    for (const name of ["a", "b"]) await root.keys.create({ body: { name, role: "viewer" } });
    const again = await follow(root, { type: "key" }, { lastEventId });
    await expect.poll(() => again.shown()).toEqual(["key.created a", "key.created b"]);
    expect(again.seen.map(({ type }) => type)).not.toContain("stream.gap");
    const lately = await follow(root, { type: "key.created", since: String(again.seen.at(-1)?.at) });
    await expect.poll(() => lately.shown()).toContain("key.created b");
    for (const one of [again, lately]) await one.stop();
  });

  test("ends with AUTH_REQUIRED at the first event after the key is revoked", async () => {
    const { data } = await root.keys.create({ body: { name: "short", role: "viewer" } });
    const reader = await follow(connect(daemon.url, data.key));
    let hasEnded = false;
    void reader.done.then(() => (hasEnded = true));
    await root.keys.revoke({ params: { id: String(data.id) } });
    await expect
      .poll(async () => (await root.keys.create({ body: { name: "noise", role: "viewer" } }), hasEnded), { interval: 250 })
      .toBe(true);
    expect(await reader.done).toMatchObject({ code: "AUTH_REQUIRED" });
  });

  test("sends stream.gap to a client that continues after a daemon restart", async () => {
    const reader = await follow(root);
    const lastEventId = String(reader.seen.at(-1)?.id);
    await reader.stop();
    await daemon.stop();
    daemon = await startDaemon({ directory: daemon.directory });
    root = connect(daemon.url, daemon.rootKey);
    const again = await follow(root, {}, { lastEventId });
    expect(again.seen).toMatchObject([{ type: "stream.gap", id: expect.any(Number) }]);
    const since = await follow(root, { since: "1h" });
    expect(since.seen).toMatchObject([{ type: "stream.gap" }]);
    for (const one of [again, since]) await one.stop();
  });
});
