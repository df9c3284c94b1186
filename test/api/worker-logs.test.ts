import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client, FollowOptions } from "../../src/shared/client.js";
import type { LogEntry } from "../../src/shared/contract/worker-logs.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

/** A worker that logs the text in the query at the level in the path. */
const talker = `export default { fetch(request) {
  const url = new URL(request.url);
  for (let index = 0; index < Number(url.searchParams.get("times") ?? 1); index += 1) console[url.pathname.slice(1)](url.searchParams.get("text"));
  return new Response("said");
} };`;

let daemon: TestDaemon;
let root: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
  for (const name of ["@team/talker", "@team/deleted", "@other/talker"]) await install(name, "1.0.0");
});
afterAll(() => daemon.dispose());

async function install(name: string, version: string): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf(name, version), "index.js": talker });
  await root.workers.upload({ file: uploadOf("talker.tgz", archive) });
}

const say = async (text: string, { level = "info", worker = "@team/talker", times = 1 } = {}) =>
  (await fetch(`${daemon.url}/${worker}/${level}?times=${times}&text=${encodeURIComponent(text)}`)).text();
const params = { scope: "@team", name: "talker" };
const texts = (entries: readonly LogEntry[]) => entries.filter(({ source }) => source === "app").map(({ text }) => text);

/** Follows the log stream and collects the entries. `done` resolves with the reason why the stream ended. */
function follow(client: Client, query: object = {}, options: Partial<FollowOptions> = {}, worker: typeof params = params) {
  const controller = new AbortController();
  const seen: LogEntry[] = [];
  const open = new EventTarget();
  const opened = new Promise<void>((resolve) => open.addEventListener("open", () => resolve()));
  const onOpen = () => open.dispatchEvent(new Event("open"));
  const done = (async () => {
    const stream = client.workers.logs.follow({ params: worker, query }, { signal: controller.signal, onOpen, ...options });
    for await (const entry of stream) seen.push(entry);
    return "ended";
  })().catch((error: unknown) => (controller.signal.aborted ? "stopped" : error));
  return { seen, opened, done, stop: () => (controller.abort(), done) };
}

describe("the log of a worker", () => {
  test("is filtered by level, text, version and time, and limited to N entries", async () => {
    for (const [level, text] of [
      ["debug", "d1"],
      ["info", "Info One"],
      ["warn", "w1"],
      ["error", "e1"],
    ])
      await say(text as string, { level });
    const read = async (query: object) => texts((await root.workers.logs({ params, query: { source: "app", ...query } })).entries);
    await expect.poll(() => read({ text: "e1" })).toEqual(["e1"]);
    expect(await read({})).toEqual(["d1", "Info One", "w1", "e1"]);
    expect(await read({ level: "warn" })).toEqual(["w1", "e1"]);
    expect(await read({ text: "INFO o" })).toEqual(["Info One"]);
    expect(await read({ version: "1.0.0", limit: 1 })).toEqual(["e1"]);
    expect(await read({ since: "1h" })).toHaveLength(4);
    expect(await read({ since: new Date(Date.now() - 60_000).toISOString() })).toHaveLength(4);
    expect(await read({ since: "2026-01-31T08:00:00+02:00", until: "1h" })).toEqual([]);
    expect(await read({ until: new Date(Date.now() + 60_000).toISOString() })).toHaveLength(4);
    expect(await read({ since: String(Date.now() + 60_000) })).toEqual([]);
    expect(await read({ since: String(Math.floor(Date.now() / 1000) - 60) })).toHaveLength(4);
    const { entries, hasMore } = await root.workers.logs({ params, query: { limit: 2, level: "info", source: "app" } });
    expect([hasMore, texts(entries)]).toEqual([true, ["w1", "e1"]]);
    expect(await read({ before: entries[0]?.id, level: "info" })).toEqual(["Info One"]);
    expect(entries[0]).toMatchObject({ version: "1.0.0", level: "warn", source: "app", time: expect.closeTo(Date.now(), -5) });
  });

  test.each([
    ["limit=0", "INVALID_REQUEST"],
    ["limit=10001", "INVALID_REQUEST"],
    ["limit=many", "INVALID_REQUEST"],
    ["level=loud", "INVALID_REQUEST"],
    ["since=yesterday", "INVALID_REQUEST"],
    ["since=-5m", "INVALID_REQUEST"],
    ["since=2026-13-40T00:00:00Z", "INVALID_REQUEST"],
    ["since=2026-01-31T08:00:00", "INVALID_REQUEST"],
    ["until=soon", "INVALID_REQUEST"],
    ["text=", "INVALID_REQUEST"],
    [`text=${"x".repeat(201)}`, "INVALID_REQUEST"],
    ["follow=yes", "INVALID_REQUEST"],
    ["source=code", "INVALID_REQUEST"],
    ["status=600", "INVALID_REQUEST"],
    ["status=5x", "INVALID_REQUEST"],
    ["requestId=", "INVALID_REQUEST"],
    ["before=-1", "INVALID_REQUEST"],
    ["version=1", "INVALID_PACKAGE_VERSION"],
    ["version=9.9.9", "WORKER_VERSION_NOT_FOUND"],
    ["follow=1&version=9.9.9", "WORKER_VERSION_NOT_FOUND"],
  ])("rejects a call with the query string %s", async (query, code) => {
    const response = await fetch(`${daemon.url}/api/workers/@team/talker/logs?${query}`, { headers: { "x-api-key": daemon.rootKey } });
    expect([((await response.json()) as { error: { code: string } }).error.code, response.headers.get("content-type")]).toEqual([
      code,
      "application/json; charset=utf-8",
    ]);
  });

  test("causes WORKER_NOT_FOUND for an unknown worker, with and without `follow`", async () => {
    const none = { scope: "_", name: "none" };
    await expect(root.workers.logs({ params: none })).rejects.toMatchObject({ code: "WORKER_NOT_FOUND", status: 404 });
    expect(await follow(root, {}, {}, none).done).toMatchObject({ code: "WORKER_NOT_FOUND" });
  });

  test("is deleted together with the worker, and its streams end", async () => {
    await say("soon gone", { worker: "@team/deleted" });
    const deleted = { scope: "@team", name: "deleted" };
    const reader = follow(root, {}, {}, deleted);
    await expect.poll(() => texts(reader.seen)).toEqual(["soon gone"]);
    await root.workers.remove({ params: deleted });
    expect(await reader.done).toBe("ended");
    await expect(root.workers.logs({ params: deleted })).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
  });
});

describe("the stream of a worker's log", () => {
  test("is sent unbuffered in response to GET; the response to HEAD has only headers", async () => {
    const url = `${daemon.url}/api/workers/@team/talker/logs?follow=1`;
    const controller = new AbortController();
    for (const method of ["GET", "HEAD"]) {
      const response = await fetch(url, { method, headers: { "x-api-key": daemon.rootKey }, signal: controller.signal });
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
        "x-request-id": expect.any(String) as string,
      });
      if (method === "HEAD") expect(await response.text()).toBe("");
    }
    controller.abort();
  });

  test("contains matching entries and continues after the last entry without loss", async () => {
    await say("before the reader");
    const reader = follow(root, { text: "reader", limit: 1 });
    await expect.poll(() => texts(reader.seen)).toEqual(["before the reader"]);
    await say("unrelated");
    await say("to the reader");
    await expect.poll(() => texts(reader.seen)).toEqual(["before the reader", "to the reader"]);
    await reader.stop();
    await say("while the reader is away", { times: 3 });
    const again = follow(root, { text: "reader", limit: 1 }, { lastEventId: String(reader.seen.at(-1)?.id) });
    await say("the reader is back");
    await expect.poll(() => texts(again.seen)).toEqual([...Array<string>(3).fill("while the reader is away"), "the reader is back"]);
    expect(await again.stop()).toBe("stopped");
  });

  test("ends with AUTH_REQUIRED at the first new entry after the key is revoked", async () => {
    const { data } = await root.keys.create({ body: { name: "short", role: "viewer" } });
    const reader = follow(connect(daemon.url, data.key));
    let hasEnded = false;
    void reader.done.then(() => (hasEnded = true));
    await reader.opened;
    await root.keys.revoke({ params: { id: String(data.id) } });
    await expect.poll(async () => (await say("for the revoked"), hasEnded), { timeout: 8000 }).toBe(true);
    expect(await reader.done).toMatchObject({ code: "AUTH_REQUIRED", status: 401 });
  });

  test("is rejected for an API key of another namespace", async () => {
    const { data } = await root.keys.create({ body: { name: "team", role: "viewer", namespaces: ["@other"] } });
    expect(await follow(connect(daemon.url, data.key)).done).toMatchObject({ code: "NAMESPACE_DENIED" });
  });

  test("accepts 100 readers and rejects the next reader with TOO_MANY_STREAMS", async () => {
    const readers = Array.from({ length: 100 }, () => follow(root));
    await Promise.all(readers.map(({ opened }) => opened));
    expect(await follow(root).done).toMatchObject({ code: "TOO_MANY_STREAMS", status: 503 });
    await Promise.all(readers.map((reader) => reader.stop()));
    const next = follow(root);
    await next.opened;
    await next.stop();
  });

  test("does not delay the daemon's shutdown, even for a stalled reader", async () => {
    // This test needs its own daemon, because stopping a daemon waits for the log streams of all tests.
    await daemon.dispose();
    daemon = await startDaemon();
    root = connect(daemon.url, daemon.rootKey);
    await install("@team/talker", "1.0.0");
    const reader = follow(root);
    await reader.opened;
    const stuck = await fetch(`${daemon.url}/api/workers/@team/talker/logs?follow=1`, { headers: { "x-api-key": daemon.rootKey } });
    await say("x".repeat(8000), { times: 100 });
    const startedAtMs = performance.now();
    expect(await daemon.stop()).toBe(0);
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    expect(await reader.done).toBe("ended");
    await stuck.body?.cancel().catch(() => undefined);
  });
});
