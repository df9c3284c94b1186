import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LogEntry } from "../../src/shared/contract/worker-logs.js";
import { connect, uploadOf } from "../support/connect.js";
import { packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

const program = `export default { fetch(request) {
  const { pathname, searchParams } = new URL(request.url);
  for (let index = 0; index < Number(searchParams.get("times") ?? 1); index += 1) console.log(pathname + " " + index + " " + "x".repeat(Number(searchParams.get("length") ?? 0)));
  return new Response("said");
} };`;
const params = { scope: "_", name: "app" };

let daemon: TestDaemon;
const root = () => connect(daemon.url, daemon.rootKey);
const say = async (target: string) => (await fetch(`${daemon.url}/app/${target}`)).text();
const texts = (entries: readonly LogEntry[]) => entries.map(({ text }) => text.trim());
const outputs = async (query: object = {}) => (await root().workers.logs({ params, query: { source: "app", ...query } })).entries;

async function restart(): Promise<void> {
  await daemon.stop();
  daemon = await startDaemon({ directory: daemon.directory, env: { RUNTIME_WORKER_LOG_SIZE: "16kb" } });
}

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_WORKER_LOG_SIZE: "16kb" } });
  const archive = await packFiles({ "manifest.yaml": "name: app\nversion: 1.0.0\n", "index.js": program });
  await root().workers.upload({ file: uploadOf("app.tgz", archive) });
});
afterAll(() => daemon.dispose());

describe("the log of a worker", () => {
  test("keeps all entries after a restart and assigns higher IDs to new entries", async () => {
    await say("before");
    const [before] = await outputs();
    await restart();
    expect(await outputs()).toEqual([before]);
    const ofAll = (await root().logs.list({ query: { source: "app" } })).entries;
    expect(ofAll).toEqual([before]);
    const requests = (await root().workers.logs({ params, query: { source: "request" } })).entries;
    expect(requests.map(({ request }) => request?.path)).toEqual(["/app/before"]);
    await say("after");
    const entries = await outputs();
    expect(texts(entries)).toEqual(["/before 0", "/after 0"]);
    expect(entries[1]?.id).toBeGreaterThan(entries[0]?.id ?? Number.POSITIVE_INFINITY);
    expect(texts(await outputs({ before: entries[1]?.id }))).toEqual(["/before 0"]);
  });

  test("contains each entry from disk and memory once and in order", async () => {
    for (let round = 0; round < 4; round += 1) {
      await say(`many-${round}?times=20&length=400`);
      // Entries of the last second are only in memory.
      await outputs({ limit: 10_000 });
    }
    const found = texts(await outputs({ text: "/many" })).map((text) => text.split(" x")[0]);
    expect(found).toEqual([0, 1, 2, 3].flatMap((round) => Array.from({ length: 20 }, (_, index) => `/many-${round} ${index}`)));
    const { entries, hasMore } = await root().workers.logs({ params, query: { source: "app", text: "/many", limit: 70 } });
    expect([entries.length, hasMore, entries[0]?.text.split(" x")[0]]).toEqual([70, true, "/many-0 10"]);
  });

  test("sends each missed entry once when a client reconnects after a daemon restart", async () => {
    const [last] = (await outputs()).slice(-1);
    await say("while-away");
    await restart();
    await say("back");
    const controller = new AbortController();
    const seen: LogEntry[] = [];
    const stream = root().workers.logs.follow(
      { params, query: { source: "app" } },
      { signal: controller.signal, lastEventId: String(last?.id) },
    );
    const done = (async () => {
      for await (const entry of stream) seen.push(entry);
    })().catch(() => undefined);
    await expect.poll(() => texts(seen)).toEqual(["/while-away 0", "/back 0"]);
    controller.abort();
    await done;
  });

  test("is deleted from disk together with the worker", async () => {
    const directory = path.join(daemon.directory, "state/logs");
    expect(await readFile(path.join(directory, "app.jsonl"), "utf8")).toContain("/back 0");
    await root().workers.remove({ params });
    await expect.poll(async () => (await readdir(directory)).filter((name) => name.startsWith("app."))).toEqual([]);
  });
});
