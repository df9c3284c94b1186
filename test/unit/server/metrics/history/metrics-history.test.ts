import { existsSync } from "node:fs";
import { appendFile, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { minuteMs, openHistory, startMs } from "../../../../support/history-harness.js";

const mb = 1024 * 1024;

describe("the metrics history", () => {
  test("contains the requests, failures and percentiles of each minute", async () => {
    const harness = await openHistory();
    harness.request("shop", { count: 100, failed: 3, durationMs: 10 });
    await harness.minute();
    await harness.minute();
    const { stepSeconds, points } = await harness.history.read("shop", "1h");

    expect(stepSeconds).toBe(60);
    expect(points).toMatchObject({ at: [startMs / 1000 + 60, startMs / 1000 + 120], requests: [100, 0], failed: [3, 0] });
    expect(points.p50Ms[0]).toBeCloseTo(10, 0);
    expect(points.p99Ms).toEqual([points.p50Ms[0], null]);
  });

  test("has intervals of 10 s for the daemon, and excludes requests to the panel", async () => {
    const harness = await openHistory();
    harness.request("shop", { count: 5 });
    harness.request("cpanel", { count: 7 });
    harness.nowMs += 10_000;
    await harness.history.sample();
    const { stepSeconds, points } = await harness.history.read(undefined, "1h");

    expect({ stepSeconds, at: points.at, requests: points.requests }).toEqual({
      stepSeconds: 10,
      at: [startMs / 1000 + 10],
      requests: [5],
    });
    expect(points.memoryBytes[0]).toBeGreaterThan(mb);
  });

  test("contains no points for minutes in which the daemon did not run", async () => {
    const harness = await openHistory();
    harness.request("shop");
    await harness.minute();
    harness.nowMs += 30 * minuteMs;
    await harness.restart();
    harness.request("shop", { count: 2 });
    await harness.minute();

    expect(await harness.requestsOf("shop")).toEqual([
      [1, 1],
      [32, 2],
    ]);
  });

  test("neither loses nor duplicates points when the clock changes", async () => {
    const harness = await openHistory();
    for (const count of [1, 2, 3]) {
      harness.request("shop", { count });
      await harness.minute();
    }
    harness.nowMs = startMs + minuteMs;
    harness.request("shop", { count: 10 });
    await harness.minute();
    harness.nowMs += 400 * 24 * 60 * minuteMs;
    harness.request("shop", { count: 20 });
    await harness.minute();
    harness.nowMs = startMs + 3 * minuteMs;
    harness.request("shop", { count: 30 });
    await harness.minute();

    const expected = [
      [1, 1],
      [2, 12],
      [3, 3],
      [4, 30],
    ];
    expect(await harness.requestsOf("shop")).toEqual(expected);
    await harness.restart();
    expect(await harness.requestsOf("shop")).toEqual(expected);
  });

  test("adds up the requests before and after a restart in the same minute", async () => {
    const harness = await openHistory();
    harness.request("shop", { count: 4 });
    harness.nowMs += 20_000;
    await harness.history.close();
    await harness.restart();
    expect(await harness.requestsOf("shop")).toEqual([[1, 4]]);
    harness.request("shop", { count: 6 });
    harness.nowMs += 40_000;
    await harness.history.sample();

    expect(await harness.requestsOf("shop")).toEqual([[1, 10]]);
  });

  test.each([1, 7, 8, 30, 50])("ignores a record of the journal whose last %i bytes are missing", async (missing) => {
    const harness = await openHistory();
    const journal = path.join(harness.directory, "journal");
    for (const count of [1, 2]) {
      harness.request("shop", { count });
      await harness.minute();
    }
    await truncate(journal, (await stat(journal)).size - missing);
    await harness.restart();
    harness.request("shop", { count: 5 });
    await harness.minute();
    await harness.history.close();
    await harness.restart();
    const points = await harness.requestsOf("shop");

    expect(points.slice(0, 1)).toEqual([[1, 1]]);
    expect(points.at(-1)).toEqual([3, 5]);
  });

  test("ignores and replaces a journal of another format", async () => {
    const harness = await openHistory();
    harness.request("shop");
    await harness.minute();
    await harness.history.close();
    await writeFile(path.join(harness.directory, "journal"), "a text of another program");
    await harness.restart();
    expect(await harness.requestsOf("shop")).toEqual([]);
    harness.request("shop", { count: 8 });
    await harness.minute();
    await harness.history.close();
    await appendFile(path.join(harness.directory, "journal"), "\0\0torn");
    await harness.restart();

    expect(await harness.requestsOf("shop")).toEqual([[2, 8]]);
  });

  test("keeps the points of 14 days in files of limited size despite daily restarts", async () => {
    const harness = await openHistory();
    for (let day = 0; day < 15; day += 1) {
      for (let minute = 0; minute < 24 * 60; minute += 5) {
        harness.request("shop");
        harness.nowMs += 4 * minuteMs;
        await harness.minute();
      }
      await harness.history.close();
      await harness.restart();
    }
    const quarterHours = await harness.requestsOf("shop", "14d");

    expect(await harness.requestsOf("shop", "24h")).toHaveLength(288);
    expect(quarterHours).toHaveLength(1344);
    expect(new Set(quarterHours.map(([, requests]) => requests))).toEqual(new Set([3]));
    const { size } = await stat(path.join(harness.directory, "workers", "shop.history"));
    expect(size).toBeLessThan(90_000);
    expect((await stat(path.join(harness.directory, "journal"))).size).toBeLessThan(300_000);
    expect(harness.history.sizeBytes).toBeLessThan(100_000);
  });

  test("deletes the points and the file of a deleted worker", async () => {
    const harness = await openHistory();
    for (let minute = 0; minute < 425; minute += 1) {
      harness.request("@team/shop");
      await harness.minute();
    }
    const file = path.join(harness.directory, "workers", "%40team%2Fshop.history");
    await expect.poll(() => existsSync(file)).toBe(true);
    harness.installed.clear();
    harness.history.noteEvent({ id: 1, type: "worker.deleted", at: 1, subject: { name: "@team/shop" } });
    await expect.poll(() => readdir(path.dirname(file))).toEqual([]);
    harness.installed.add("@team/shop");
    await harness.restart();

    expect(await harness.requestsOf("@team/shop")).toEqual([]);
    expect(harness.history.sparklines(() => true)).toEqual([]);
  });

  test("contains a marker for each start, deployment and restart, and names the key", async () => {
    const harness = await openHistory();
    harness.installed.add("shop");
    const principal = { id: 3, name: "ci", keyPrefix: "rt_abc" };
    const subject = { name: "shop", version: "1.4.2" };
    harness.history.noteEvent({ id: 1, type: "worker.answering", at: 1, subject });
    harness.history.noteEvent({ id: 2, type: "worker.installed", at: 1, subject, principal });
    harness.nowMs += 1000;
    harness.history.noteEvent({ id: 3, type: "worker.restarted", at: 1, subject: { name: "shop" }, principal });
    await harness.history.close();
    harness.nowMs += minuteMs;
    await harness.restart();

    const at = startMs / 1000;
    const [deploy, restart] = [
      { at, type: "deploy", version: "1.4.2", by: "ci" },
      { at: at + 1, type: "restart", by: "ci" },
    ];
    const starts = [at, at + 61].map((time) => ({ at: time, type: "start" }));
    const { markers } = await harness.history.read("shop", "1h");
    expect(markers).toHaveLength(4);
    expect(markers).toEqual(expect.arrayContaining([deploy, restart, ...starts]));
    const ofDaemon = await harness.history.read(undefined, "1h");
    expect(ofDaemon.markers).toEqual(expect.arrayContaining([{ ...deploy, worker: "shop" }, { ...restart, worker: "shop" }, ...starts]));
  });

  test("logs one warning while it cannot write, and later writes all points", async () => {
    const harness = await openHistory();
    await writeFile(harness.directory, "");
    for (let minute = 0; minute < 3; minute += 1) {
      harness.request("shop");
      await harness.minute();
    }
    expect(harness.warnings).toEqual([expect.stringContaining("could not be written")]);

    await rm(harness.directory);
    await harness.minute();
    await harness.restart();
    expect(await harness.requestsOf("shop")).toEqual([...[1, 2, 3].map((minute) => [minute, 1]), [4, 0]]);
    await rm(harness.directory, { recursive: true });
    await writeFile(harness.directory, "");
    await harness.minute();
    expect(harness.warnings).toHaveLength(2);
  });

  test("contains no points when the size limit is 0 bytes", async () => {
    const harness = await openHistory(0);
    harness.request("shop");
    await harness.minute();
    await harness.history.close();

    expect(await harness.requestsOf(undefined)).toEqual([]);
    expect(existsSync(harness.directory)).toBe(false);
  });
});
