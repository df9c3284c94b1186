import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { LogFiles } from "../../../../../src/server/workers/logs/log-files.js";
import { LogRetention } from "../../../../../src/server/workers/logs/log-retention.js";
import { WorkerLogs } from "../../../../../src/server/workers/logs/worker-logs.js";
import { temporaryDirectory } from "../../../../support/temporary-directory.js";

const request = { method: "GET", path: "/", status: 200, durationMs: 1, responseBytes: 0, requestId: "id", client: "127.0.0.1" };
const missing = (count: number) => `${count} entries are missing here: the log dropped them before they were read.`;

async function open(limits = { bytesPerWorker: 2000, totalBytes: 100_000 }) {
  const directory = path.join(await temporaryDirectory(), "logs");
  const errors: unknown[] = [];
  const files = new LogFiles({ directory, bytesPerWorker: 100_000 });
  const retention = new LogRetention({ files, onError: (error) => errors.push(error) });
  const logs = new WorkerLogs({ ...limits, now: Date.now, retention });
  const write = (text: string, name = "app") => logs.write({ name, version: "1.0.0", level: "info", source: "app", text });
  return { directory, errors, logs, write };
}

test("the log writer reports a disk failure once, and continues when the disk recovers", async () => {
  const { directory, errors, logs, write } = await open();
  await writeFile(directory, "a file in the place of the folder");
  for (const text of ["one", "two", "three"]) {
    write(text);
    await logs.close();
  }
  expect(errors).toHaveLength(1);
  await rm(directory);
  await mkdir(directory);
  write("four");
  await logs.close();
  expect(errors).toHaveLength(1);
  expect((await logs.read(["app"], { limit: 10 })).entries.map(({ text }) => text)).toEqual(["one", "two", "three", "four"]);
});

test("a log contains a notice when entries were dropped before they reached the disk", async () => {
  const { logs, write } = await open();
  for (let index = 0; index < 100; index += 1) write(`${index} ${"x".repeat(100)}`);
  await logs.close();
  const { entries } = await logs.read(["app"], { limit: 1000 });
  expect(entries[0]).toMatchObject({ source: "runtime", level: "warn", text: missing(101 - entries.length) });
  expect(entries.at(-1)?.text).toMatch(/^99 /);
});

test("a log contains the number of entries that the total size limit has deleted", async () => {
  const { logs, write } = await open();
  const counts: Record<string, number> = {};
  // Each worker displaces the logs of other workers, and logs again before its entries are on the disk.
  for (let index = 0; index < 600; index += 1) {
    const name = `app${Math.floor(index / 5) % 60}`;
    write(`${index} ${"x".repeat(300)}`, name);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  logs.writeRequest({ name: "app59", version: "1.0.0", level: "info", text: "last", request });
  counts["app59"] = (counts["app59"] ?? 0) + 1;
  await logs.close();

  expect(logs.readMemory(() => true, { limit: 10_000 }).entries.length).toBeLessThan(300);
  for (const [name, count] of Object.entries(counts)) {
    const { entries } = await logs.read([name], { limit: 1000 });
    const lost = entries.map(({ text }) => Number(/^(\d+) entr(?:y is|ies are) missing here/.exec(text)?.[1] ?? 0));
    const kept = entries.filter(({ source }) => source !== "runtime");
    expect(kept.length + lost.reduce((sum, one) => sum + one, 0), name).toBe(count);
    expect(entries.map(({ id }) => id)).toEqual(entries.map(({ id }) => id).toSorted((one, other) => one - other));
  }
  const [notice] = (await logs.read(["app0"], { limit: 1000 })).entries;
  expect(notice).toMatchObject({ worker: "app0", version: "1.0.0", source: "runtime", level: "warn", text: missing(5) });
});

test("a log contains a notice when worker output has displaced entries of requests", async () => {
  const { logs, write } = await open({ bytesPerWorker: 2000, totalBytes: 2000 });
  for (let index = 0; index < 3; index += 1) logs.writeRequest({ name: "app", version: "1.0.0", level: "info", text: `${index}`, request });
  write("x".repeat(1800));
  await logs.close();
  expect((await logs.read(["app"], { limit: 10 })).entries.map(({ text }) => text)).toEqual([missing(3), "x".repeat(1800)]);
});

test("a reader receives log entries from disk and memory in order", async () => {
  const { logs, write } = await open();
  write("output");
  for (let index = 0; index < 60; index += 1) {
    logs.writeRequest({ name: "app", version: "1.0.0", level: "info", text: `request ${index}`, request });
    await logs.close();
  }
  const wanted = ["output", ...Array.from({ length: 60 }, (_, index) => `request ${index}`)];
  const all = (await logs.read(["app"], { limit: 100 })).entries;
  expect(logs.readMemory(["app"], { limit: 100 }).entries.length).toBeLessThan(20);
  expect(all.map(({ text }) => text)).toEqual(wanted);
  const newest = await logs.read(["app"], { limit: 20 });
  expect([newest.hasMore, newest.entries.map(({ text }) => text)]).toEqual([true, wanted.slice(-20)]);
  const older = await logs.read(["app"], { limit: 100, before: newest.entries[0]?.id });
  expect(older.entries.map(({ text }) => text)).toEqual(wanted.slice(0, -20));

  const seen: string[] = [];
  const controller = new AbortController();
  const resumed = logs.follow(["app"], { limit: 1 }, { lastEventId: (all[0]?.id ?? 0) - 1, signal: controller.signal });
  const done = (async () => {
    for await (const batch of resumed) seen.push(...batch.map(({ text }) => text));
  })();
  write("last");
  await expect.poll(() => seen).toEqual([...wanted, "last"]);
  controller.abort();
  await done;
});
