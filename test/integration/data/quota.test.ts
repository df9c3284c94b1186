import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measureDiskUsage } from "../../../src/server/workers/data/disk-usage.js";
import type { Client } from "../../../src/shared/client.js";
import { connect } from "../../support/connect.js";
import { daemonUsers, startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { askStorage, storageWorker } from "../../support/storage-worker.js";
import { uploadWorker } from "../../support/upload-worker.js";

const mb = 1024 * 1024;
const limitBytes = 50 * mb;
/** Bytes beyond the limit that the daemon allows, because a worker can write between two measurements. */
const overshootBytes = 64 * mb;
const files = { "index.js": storageWorker, "package.json": '{"type":"module"}' };

describe.each(daemonUsers)("the storage quota of a worker (daemon user: %s)", (_, user) => {
  let daemon: TestDaemon;
  let client: Client;
  let workers = 0;

  beforeAll(async () => {
    daemon = await startDaemon({ ...user, env: { RUNTIME_WORKER_PERMISSIONS: "network,child-process", RUNTIME_WORKER_TMP_MAX: "8mb" } });
    client = connect(daemon.url, daemon.rootKey);
  });
  afterAll(() => daemon.dispose());

  async function addWorker(manifest = "") {
    workers += 1;
    const name = `store-${workers}`;
    await uploadWorker(client, name, files, `data: 50mb\n${manifest}`);
    const folder = path.join(daemon.directory, "data", name);
    return {
      name,
      ask: (act: string, query = {}) => askStorage(`${daemon.url}/${name}/`, act, query),
      usedBytes: () => measureDiskUsage(folder, []).bytes,
      isFull: async () => (await client.data.list()).data.find(({ worker }) => worker === name)?.full,
    };
  }

  const attempts: readonly (readonly [title: string, manifest: string, act: string, query: Record<string, string | number>])[] = [
    ["one large file", "", "fill", { name: "large", mb: 400 }],
    ["fallocate", "permissions: [child-process]\n", "allocate", { name: "allocated", mb: 45 }],
  ];

  it.each(attempts)("denies writes before the data folder is 64 MB above the quota (method: %s)", async (_title, manifest, act, query) => {
    const store = await addWorker(manifest);
    await store.ask("write", { name: "kept", text: "kept" });
    await store.ask(act, query);
    // A second attempt, because the maximum file size alone stops one file at the limit.
    await store.ask(act, { ...query, name: "second" });
    expect(store.usedBytes()).toBeLessThanOrEqual(limitBytes + overshootBytes);
    await expect.poll(store.isFull).toBe(true);
    // The next isolate can read and delete files, but cannot write.
    await expect.poll(() => store.ask("write", { name: "new" })).toEqual({ code: "EACCES" });
    expect(await store.ask("read", { name: "kept" })).toEqual({ result: "kept" });
    const { entries } = await client.workers.logs({ params: { scope: "_", name: store.name } });
    expect(entries.map(({ text }) => text).join("\n")).toContain("DATA_QUOTA_EXCEEDED: the data folder uses ");
    const health = await client.health.ready({ query: { verbose: "1" } });
    expect(health.checks?.find(({ name }) => name === "worker-data")).toMatchObject({
      status: "degraded",
      message: expect.stringContaining(store.name) as string,
    });

    const { result } = await store.ask("list");
    for (const name of result as string[]) if (name !== "kept") expect(await store.ask("delete", { name })).toEqual({ result: null });
    await expect.poll(store.isFull).toBe(false);
    await expect.poll(() => store.ask("write", { name: "new" })).toEqual({ result: null });
    expect(await store.ask("read", { name: "kept" })).toEqual({ result: "kept" });
  });

  it("counts a deleted file until the process that opened the file exits", async () => {
    const store = await addWorker();
    // A file of 40 MB is within the limit, two are not.
    await store.ask("fillDeleted", { name: "first", mb: 40 });
    await store.ask("fillDeleted", { name: "second", mb: 40 });
    const text = async () => (await client.workers.logs({ params: { scope: "_", name: store.name } })).entries.map((entry) => entry.text);
    await expect.poll(async () => (await text()).join("\n")).toContain("DATA_QUOTA_EXCEEDED: the data folder uses ");
    await expect.poll(async () => (await text()).join("\n")).toContain("The data folder is writable again: it uses ");
    await expect.poll(() => store.ask("write", { name: "new" })).toEqual({ result: null });
  });

  it("denies writes before the worker has written 100,000 small files", async () => {
    const store = await addWorker();
    await store.ask("many", { name: "many", count: 100_000 });
    // 12,800 entries of 4 KB reach the limit. The others follow until the next measurement.
    expect(store.usedBytes()).toBeLessThan(100_000 * 4096);
    await expect.poll(store.isFull).toBe(true);
    await expect.poll(() => store.ask("write", { name: "new" })).toEqual({ code: "EACCES" });
  });

  it("counts the allocated blocks of a sparse file, not its size", async () => {
    const store = await addWorker();
    expect(await store.ask("sparse", { name: "sparse", mb: 40 })).toEqual({ result: null });
    expect(store.usedBytes()).toBeLessThan(mb);
    expect(await store.ask("sparse", { name: "beyond", mb: 400 })).toEqual({ code: "EFBIG" });
    expect(await store.isFull()).toBe(false);
  });

  it("does not block writes of other workers when one worker exceeds the quota", async () => {
    const [full, other] = [await addWorker(), await addWorker()];
    await full.ask("fill", { name: "large", mb: 400 });
    await expect.poll(full.isFull).toBe(true);
    expect(await other.ask("write", { name: "a" })).toEqual({ result: null });
  });

  it("stops an isolate and deletes its temporary folder if this folder is too large", async () => {
    const store = await addWorker();
    const plain = "plain-writer";
    await uploadWorker(client, plain, files);
    const ask = (act: string, query = {}) => askStorage(`${daemon.url}/${plain}/`, act, { folder: "temporary", ...query });
    const { temporary } = (await ask("folders")).result as { temporary: string };
    expect(await ask("write", { name: "a" })).toEqual({ result: null });
    expect(await ask("list")).toEqual({ result: ["a"] });
    expect((await store.ask("read", { name: "a", folder: temporary })).code).toMatch(/^(ERR_ACCESS_DENIED|EACCES)$/);
    // The limit of 8 MB stops the first file. With the second file, the folder exceeds the limit, and the daemon stops the isolate.
    expect(await ask("fill", { name: "large", mb: 100 })).toEqual({ code: "EFBIG" });
    await ask("fill", { name: "second", mb: 7 });
    // The next isolate can write the second file into its own folder, if the daemon stops the first isolate between the two files.
    await expect.poll(() => readdir(temporary).catch(({ code }: NodeJS.ErrnoException) => code)).toBe("ENOENT");
    expect(((await ask("folders")).result as { temporary: string }).temporary).not.toBe(temporary);
    const { entries } = await client.workers.logs({ params: { scope: "_", name: plain } });
    expect(entries.map(({ text }) => text).join("\n")).toContain("its temporary folder (os.tmpdir) exceeded 8.0 MB");
  });
});
