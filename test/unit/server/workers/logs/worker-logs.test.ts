import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WorkerLogs } from "../../../../../src/server/workers/logs/worker-logs.js";
import type { LogEntry } from "../../../../../src/shared/contract/worker-logs.js";

const open = (sizes: { bytesPerWorker?: number; totalBytes?: number } = {}) =>
  new WorkerLogs({ bytesPerWorker: 100_000, totalBytes: 1_000_000, now: () => 1_700_000_000_000, ...sizes });
const write = (logs: WorkerLogs, name: string, text: string, more: Partial<LogEntry> = {}) =>
  logs.write({ name, version: "1.0.0", level: "info", source: "app", text, ...more });
const texts = (entries: readonly LogEntry[]) => entries.map((entry) => entry.text);
const everything = { limit: 10_000 };

/** Follows the logs and collects the entries until it is stopped. */
function follow(logs: WorkerLogs, name: string, query: Parameters<WorkerLogs["follow"]>[1], lastEventId?: number) {
  const controller = new AbortController();
  const seen: LogEntry[] = [];
  const done = (async () => {
    for await (const batch of logs.follow([name], query, { lastEventId, signal: controller.signal })) seen.push(...batch);
  })();
  return { seen, done, stop: () => (controller.abort(), done) };
}

describe("the logs of the workers", () => {
  test("stay within the size limits, keep the newest entries and have increasing IDs", () => {
    const writes = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.string({ maxLength: 400 })), { maxLength: 300 });
    fc.assert(
      fc.property(
        writes,
        fc.integer({ min: 600, max: 5000 }),
        fc.integer({ min: 600, max: 10_000 }),
        (list, bytesPerWorker, totalBytes) => {
          const logs = open({ bytesPerWorker, totalBytes });
          for (const [name, text] of list) {
            write(logs, name, text);
            expect(logs.sizeBytes).toBeLessThanOrEqual(totalBytes);
          }
          let bytes = 0;
          for (const name of ["a", "b", "c", "d"]) {
            const { entries } = logs.readMemory([name], everything);
            const written = list.filter(([other]) => other === name).map(([, text]) => Buffer.from(text).toString());
            expect(texts(entries)).toEqual(written.slice(written.length - entries.length));
            const ids = entries.map(({ id }) => id);
            expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
            const own = entries.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 96, 0);
            expect(own).toBeLessThanOrEqual(bytesPerWorker);
            bytes += own;
          }
          expect(logs.sizeBytes).toBe(bytes);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("keep at most 10,000 entries of a worker", () => {
    const logs = open({ bytesPerWorker: 100_000_000, totalBytes: 100_000_000 });
    for (let index = 0; index < 12_000; index += 1) write(logs, "busy", String(index));
    const { entries, hasMore } = logs.readMemory(["busy"], everything);
    expect([entries.length, entries[0]?.text, entries.at(-1)?.text, hasMore]).toEqual([10_000, "2000", "11999", false]);
  });

  test("lose entries of the least recently active worker if the total size is too large", () => {
    const logs = open({ bytesPerWorker: 1000, totalBytes: 2000 });
    for (const name of ["old", "mid", "old"]) write(logs, name, "x".repeat(700));
    write(logs, "new", "x".repeat(700));
    expect(["old", "mid", "new"].map((name) => logs.readMemory([name], everything).entries.length)).toEqual([1, 0, 1]);
  });

  test("are filtered by version, level, text, time, ID and count", () => {
    let now = 1000;
    const logs = new WorkerLogs({ bytesPerWorker: 100_000, totalBytes: 100_000, now: () => now });
    for (const level of ["debug", "info", "warn", "error"] as const) {
      now += 1000;
      write(logs, "app", `A ${level} (text)`, { level, version: level === "warn" ? "2.0.0" : "1.0.0" });
    }
    const read = (query: object) => texts(logs.readMemory(["app"], { ...everything, ...query }).entries);
    expect(read({ version: "2.0.0" })).toEqual(["A warn (text)"]);
    expect(read({ level: "warn" })).toEqual(["A warn (text)", "A error (text)"]);
    expect(read({ text: "a INFO (" })).toEqual(["A info (text)"]);
    expect(read({ text: ".*" })).toEqual([]);
    expect(read({ sinceMs: 4000 })).toEqual(["A warn (text)", "A error (text)"]);
    expect(logs.readMemory(["app"], { limit: 3 })).toMatchObject({
      hasMore: true,
      entries: [{ level: "info" }, { level: "warn" }, { level: "error" }],
    });
    const [first] = logs.readMemory(["app"], { limit: 3 }).entries;
    expect(read({ before: first?.id })).toEqual(["A debug (text)"]);
  });

  test("contain a long text in shortened form, with the number of omitted characters", () => {
    const logs = open();
    write(logs, "app", "x".repeat(100_000));
    expect(logs.readMemory(["app"], everything).entries[0]?.text).toMatch(/^x{32704}… \(67296 more characters\)$/);
  });
});

describe("a reader that follows a log", () => {
  test("receives matching stored entries, and then new entries", async () => {
    const logs = open();
    for (const text of ["one", "two", "three"]) write(logs, "app", text);
    const reader = follow(logs, "app", { limit: 2 });
    await expect.poll(() => texts(reader.seen)).toEqual(["two", "three"]);
    write(logs, "app", "four");
    write(logs, "other", "not this");
    await expect.poll(() => texts(reader.seen)).toEqual(["two", "three", "four"]);
    await reader.stop();
  });

  test("can start before the worker has any entry", async () => {
    const logs = open();
    const reader = follow(logs, "app", { limit: 10, level: "warn" });
    write(logs, "app", "quiet");
    write(logs, "app", "loud", { level: "error" });
    await expect.poll(() => texts(reader.seen)).toEqual(["loud"]);
    await reader.stop();
  });

  test("can continue after any entry without lost or duplicate entries", () => {
    const ids = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.nat({ max: 40 }));
    return fc.assert(
      fc.asyncProperty(ids, async ([count, seen]) => {
        const logs = open();
        for (let index = 0; index < count; index += 1) write(logs, "app", String(index));
        const { entries } = logs.readMemory(["app"], everything);
        const last = entries[Math.min(seen, count - 1)] as LogEntry;
        const reader = follow(logs, "app", { limit: 1, sinceMs: 2_000_000_000_000 }, last.id);
        write(logs, "app", "end");
        await expect.poll(() => texts(reader.seen).at(-1), { interval: 1 }).toBe("end");
        await reader.stop();
        expect(texts(reader.seen)).toEqual([...texts(entries.filter(({ id }) => id > last.id)), "end"]);
      }),
      { numRuns: 25 },
    );
  });

  test("receives the number of skipped entries when it reads slowly", async () => {
    const logs = open({ bytesPerWorker: 1000, totalBytes: 1000 });
    const controller = new AbortController();
    const batches = logs.follow(["app"], { limit: 10 }, { lastEventId: undefined, signal: controller.signal });
    write(logs, "app", "first");
    expect(texts((await batches.next()).value as LogEntry[])).toEqual(["first"]);
    for (let index = 0; index < 500; index += 1) write(logs, "app", `entry ${index}`);
    const seen = (await batches.next()).value as LogEntry[];
    expect(seen[0]).toMatchObject({ source: "runtime", level: "warn", text: expect.stringContaining("missing here") });
    expect(seen.at(-1)?.text).toBe("entry 499");
    expect(logs.sizeBytes).toBeLessThanOrEqual(1000);
    controller.abort();
    expect((await batches.next()).done).toBe(true);
  });

  test("ends after the last entry when the worker is deleted", async () => {
    const logs = open();
    write(logs, "app", "hello");
    const reader = follow(logs, "app", { limit: 10 });
    await expect.poll(() => reader.seen.length).toBe(1);
    logs.forget("app");
    await reader.done;
    expect([logs.readMemory(["app"], everything).entries, logs.sizeBytes]).toEqual([[], 0]);
  });

  test("receives all entries when the requested last entry ID is unknown", async () => {
    const logs = open();
    write(logs, "app", "hello");
    const reader = follow(logs, "app", { limit: 10 }, Number.MAX_SAFE_INTEGER);
    await expect.poll(() => texts(reader.seen)).toEqual(["hello"]);
    await reader.stop();
  });
});

describe("the request entries of a log", () => {
  const request = { method: "GET", path: "/hello", durationMs: 1.5, responseBytes: 5, requestId: "one", client: "127.0.0.1" };
  const writeRequest = (logs: WorkerLogs, name: string, status: number, more: { requestId?: string } = {}) =>
    logs.writeRequest({ name, version: "1.0.0", level: "info", text: `GET /hello ${status}`, request: { ...request, status, ...more } });

  test("do not displace output entries of the worker", () => {
    const logs = open({ bytesPerWorker: 5000 });
    write(logs, "app", "hello");
    for (let index = 0; index < 1000; index += 1) writeRequest(logs, "app", 200);
    const { entries } = logs.readMemory(["app"], everything);
    expect(entries[0]?.text).toBe("hello");
    expect(entries.length).toBeGreaterThan(5);
    expect(logs.sizeBytes).toBeLessThan(10_000);
  });

  test("are filtered by status, status class, source and request ID", () => {
    const logs = open();
    write(logs, "app", "before");
    for (const status of [200, 404, 500, 503]) writeRequest(logs, "app", status, { requestId: `r${status}` });
    write(logs, "app", "after");
    const read = (query: object) =>
      texts(logs.readMemory(["app"], { ...everything, ...query }).entries).map((text) => text.replace("GET /hello ", ""));
    expect(read({})).toEqual(["before", "200", "404", "500", "503", "after"]);
    expect(read({ limit: 2 })).toEqual(["503", "after"]);
    expect(read({ status: "5xx" })).toEqual(["500", "503"]);
    expect(read({ status: "404" })).toEqual(["404"]);
    expect(read({ requestId: "r500" })).toEqual(["500"]);
    expect(read({ source: "app" })).toEqual(["before", "after"]);
    expect(read({ source: "request", text: "HELLO 20" })).toEqual(["200"]);
  });
});

const isWanted = (name: string) => name !== "c";

describe("the logs of several workers", () => {
  test("contain the newest entries of all selected workers in order", () => {
    const logs = open();
    for (const [index, name] of ["a", "b", "a", "c", "b"].entries()) write(logs, name, `${name}${index}`);
    expect(texts(logs.readMemory(isWanted, everything).entries)).toEqual(["a0", "b1", "a2", "b4"]);
    expect(logs.readMemory(isWanted, { limit: 3 })).toMatchObject({
      hasMore: true,
      entries: [{ text: "b1", worker: "b" }, { text: "a2" }, { text: "b4" }],
    });
  });

  test("can be followed from a new worker's first entry on, in order and without loss", () => {
    const writes = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: 1, max: 400 })), { minLength: 1, maxLength: 12 });
    return fc.assert(
      fc.asyncProperty(writes, async (list) => {
        const logs = open({ bytesPerWorker: 10_000_000, totalBytes: 100_000_000 });
        write(logs, "a", "first");
        const first = logs.readMemory(["a"], everything).entries[0] as LogEntry;
        const controller = new AbortController();
        const seen: LogEntry[] = [];
        const all = logs.follow(() => true, { limit: 1 }, { lastEventId: first.id, signal: controller.signal });
        const done = (async () => {
          for await (const batch of all) seen.push(...batch);
        })();
        let count = 0;
        for (const [name, times] of list)
          for (let index = 0; index < times; index += 1) write(logs, name, `${(count += 1)} ${"x".repeat(index * 3)}`);
        await expect.poll(() => seen.length, { interval: 1 }).toBe(count);
        controller.abort();
        await done;
        expect(texts(seen).map((text) => Number.parseInt(text, 10))).toEqual(Array.from({ length: count }, (_, index) => index + 1));
      }),
      { numRuns: 25 },
    );
  });
});
