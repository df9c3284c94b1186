import { appendFile, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { LogFiles } from "../../../../../src/server/workers/logs/log-files.js";
import type { LogEntry } from "../../../../../src/shared/contract/worker-logs.js";
import { temporaryDirectory } from "../../../../support/temporary-directory.js";

const entry = (id: number, text = `line ${id}`): LogEntry => ({
  id,
  time: id,
  worker: "@team/app",
  version: "1.0.0",
  level: "info",
  source: "app",
  text,
});
const all = () => true;
const ids = (entries: readonly LogEntry[]) => entries.map(({ id }) => id);

async function open(bytesPerWorker = 100_000) {
  const directory = path.join(await temporaryDirectory(), "logs");
  return { directory, files: new LogFiles({ directory, bytesPerWorker }) };
}

test("the log files return the newest matching entries of one worker in order", async () => {
  const { directory, files } = await open();
  await files.append("@team/app", [entry(1), entry(2), entry(3)]);
  await files.append("other", [entry(4)]);
  expect(ids(await files.read("@team/app", all, { limit: 2, leastId: 0 }))).toEqual([2, 3]);
  expect(ids(await files.read("@team/app", ({ id }) => id !== 2, { limit: 10, leastId: 0 }))).toEqual([1, 3]);
  expect(await files.read("nobody", all, { limit: 10, leastId: 0 })).toEqual([]);
  const other = new LogFiles({ directory, bytesPerWorker: 1000 });
  expect(await other.read("@team/app", all, { limit: 1, leastId: 0 })).toEqual([entry(3)]);
});

test("a worker's log files have a limited size and are readable only by the daemon", async () => {
  const { directory, files } = await open(10_000);
  for (let id = 1; id <= 500; id += 1) await files.append("@team/app", [entry(id)]);
  const names = await readdir(directory);
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(directory, name))).size));
  expect(names).toHaveLength(2);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(10_000);
  expect((await stat(path.join(directory, names[0] as string))).mode & 0o777).toBe(0o600);
  const kept = ids(await files.read("@team/app", all, { limit: 1000, leastId: 0 }));
  expect(kept.at(-1)).toBe(500);
  expect(kept.length).toBeGreaterThan(40);
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => 501 - kept.length + index));
});

test("log files return lines of any length, starting at the requested entry ID", async () => {
  const { files } = await open(10_000_000);
  const lengths = [0, 1, 65_400, 65_536, 200_000, 3, 70_000, 0];
  const entries = lengths.map((length, index) => entry(index + 1, "ü€".repeat(length / 2)));
  await files.append("@team/app", entries);
  expect(await files.read("@team/app", all, { limit: 100, leastId: 0 })).toEqual(entries);
  expect(ids(await files.read("@team/app", all, { limit: 100, leastId: 5 }))).toEqual([5, 6, 7, 8]);
  expect(ids(await files.read("@team/app", all, { limit: 2, leastId: 5 }))).toEqual([7, 8]);
});

test("a line that a crash left incomplete is skipped, and later entries are appended", async () => {
  const { directory, files } = await open();
  await files.append("@team/app", [entry(1)]);
  const file = path.join(directory, "%40team%2Fapp.jsonl");
  await appendFile(file, '{"id":2,"time":');
  const restarted = new LogFiles({ directory, bytesPerWorker: 100_000 });
  await restarted.append("@team/app", [entry(3), entry(4)]);
  expect(ids(await restarted.read("@team/app", all, { limit: 10, leastId: 0 }))).toEqual([1, 3, 4]);
  expect(await readFile(file, "utf8")).toMatch(/\n$/);
});

test("the log files accept new entries of a worker whose old entries were deleted", async () => {
  const { directory, files } = await open();
  await Promise.all([files.append("a", [entry(1)]), files.append("b", [entry(2)]), files.delete("a"), files.append("a", [entry(3)])]);
  expect(ids(await files.read("a", all, { limit: 10, leastId: 0 }))).toEqual([3]);
  expect(ids(await files.read("b", all, { limit: 10, leastId: 0 }))).toEqual([2]);
  await files.delete("a");
  expect(await readdir(directory)).toEqual(["b.jsonl"]);
});
