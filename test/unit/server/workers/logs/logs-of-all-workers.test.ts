import { utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LogFiles } from "../../../../../src/server/workers/logs/log-files.js";
import { LogRetention } from "../../../../../src/server/workers/logs/log-retention.js";
import { WorkerLogs } from "../../../../../src/server/workers/logs/worker-logs.js";
import type { LogEntry, LogFilter } from "../../../../../src/shared/contract/worker-logs.js";
import { temporaryDirectory } from "../../../../support/temporary-directory.js";

const everyone = () => true;
const request = { method: "GET", path: "/", status: 200, durationMs: 1, responseBytes: 0, requestId: "id", client: "127.0.0.1" };
const texts = (entries: readonly LogEntry[]) => entries.map(({ text }) => text);

/** The logs of a daemon that starts at a Unix time in milliseconds. Memory keeps about 15 entries of each kind per worker. */
function open(directory: string, startMs: number) {
  const read: string[] = [];
  const files = new LogFiles({ directory, bytesPerWorker: 1_000_000 });
  const readFile = files.read.bind(files);
  files.read = (name, ...more) => {
    read.push(name);
    return readFile(name, ...more);
  };
  let nowMs = startMs;
  const retention = new LogRetention({ files, onError: (error) => expect.unreachable(String(error)) });
  const logs = new WorkerLogs({ bytesPerWorker: 2000, totalBytes: 100_000, now: () => nowMs, retention });
  onTestFinished(() => logs.close());
  const write = (name: string, text: string, kind: "output" | "request" = "output") => {
    nowMs += 1;
    if (kind === "output") logs.write({ name, version: "1.0.0", level: "info", source: "app", text });
    else logs.writeRequest({ name, version: "1.0.0", level: "info", text, request });
  };
  return { logs, write, read };
}

/** Writes 300 entries of three workers in two runs of the daemon. Returns the logs of the second run and all texts in order. */
async function twoRuns() {
  const directory = path.join(await temporaryDirectory(), "logs");
  const written: string[] = [];
  const startMs = Date.now() - 100_000;
  let run = open(directory, startMs);
  for (let index = 0; index < 300; index += 1) {
    const name = ["a", "@team/b", "c"][(index * 7 + (index >> 3)) % 3] as string;
    if (index === 150) {
      await run.logs.close();
      run = open(directory, startMs + 50_000);
    }
    const text = `${index} of ${name}`;
    run.write(name, text, index % 5 < 2 ? "request" : "output");
    written.push(text);
    if (index % 10 === 9) await run.logs.close();
  }
  return { ...run, written, directory, startMs };
}

test("a reader receives all entries of all workers from disk and memory in order", async () => {
  const { logs, written } = await twoRuns();
  expect(logs.readMemory(everyone, { limit: 1000 }).entries.length).toBeLessThan(100);
  const { entries, hasMore } = await logs.read(everyone, { limit: 1000 });
  expect([texts(entries), hasMore]).toEqual([written, false]);
});

test.each([1, 7, 40, 299, 300])("a reader receives all entries of all workers in pages of %i entries", async (limit) => {
  const { logs, written } = await twoRuns();
  const pages: string[][] = [];
  let page = await logs.read(everyone, { limit });
  for (; page.hasMore; page = await logs.read(everyone, { limit, before: page.entries[0]?.id })) pages.unshift(texts(page.entries));
  pages.unshift(texts(page.entries));
  expect(pages.flat()).toEqual(written);
});

test("a filter for workers opens only the log files of these workers", async () => {
  const { logs, written, read, startMs } = await twoRuns();
  const find = async (query: Omit<LogFilter, "limit">) =>
    texts((await logs.read((name) => name !== "a", { ...query, limit: 1000 })).entries);
  const others = written.filter((text) => !text.endsWith(" a"));
  expect(await find({ text: "1 of" })).toEqual(others.filter((text) => text.includes("1 of")));
  expect(await find({ source: "request" })).toEqual(others.filter((text) => Number.parseInt(text, 10) % 5 < 2));
  expect(await find({ untilMs: startMs + 101 })).toEqual(others.filter((text) => Number.parseInt(text, 10) < 100));
  expect(await find({ sinceMs: startMs + 50_001 })).toEqual(others.filter((text) => Number.parseInt(text, 10) >= 150));
  expect(read).not.toContain("a");
});

test("a log reader opens no file that is too old for the request or is not a log file", async () => {
  const { logs, written, read, directory, startMs } = await twoRuns();
  const old = new Date(startMs - 10_000);
  await utimes(path.join(directory, "c.jsonl"), old, old);
  for (const name of ["%zz.jsonl", "notes.txt", "empty.jsonl"]) await writeFile(path.join(directory, name), "not an entry");
  const inMemory = texts(logs.readMemory(["c"], { limit: 1000 }).entries);
  expect(texts((await logs.read(everyone, { limit: 1000, sinceMs: startMs })).entries)).toEqual(
    written.filter((text) => !text.endsWith(" c") || inMemory.includes(text)),
  );
  expect(read).not.toContain("c");
  read.length = 0;
  expect(texts((await logs.read(everyone, { limit: 2 })).entries)).toEqual(written.slice(-2));
  // The logs of the workers are in memory from these entries on.
  expect(read).toEqual(["empty"]);
});

test("a reader that continues after a restart receives all later entries", async () => {
  const { logs, written, write } = await twoRuns();
  const all = (await logs.read(everyone, { limit: 1000 })).entries;
  const controller = new AbortController();
  const seen: string[] = [];
  const stream = logs.follow(everyone, { limit: 1 }, { lastEventId: all[99]?.id, signal: controller.signal });
  const done = (async () => {
    for await (const batch of stream) seen.push(...texts(batch));
  })();
  await expect.poll(() => seen).toEqual(written.slice(100));
  write("a", "last");
  await expect.poll(() => seen).toEqual([...written.slice(100), "last"]);
  controller.abort();
  await done;
});
