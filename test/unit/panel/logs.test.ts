import { expect, test } from "vitest";
import { exportText } from "../../../src/cpanel/pages/logs/log-export.js";
import { countLevels, countText } from "../../../src/cpanel/pages/logs/level-counts.js";
import { readLogQuery, timeChoices, timeRangeOf } from "../../../src/cpanel/pages/logs/log-query.js";
import { entryRow, foldStacks } from "../../../src/cpanel/pages/logs/log-row.js";
import { RowLayout } from "../../../src/cpanel/pages/logs/row-layout.js";
import type { LogEntry } from "../../../src/shared/contract/worker-logs.js";

const entry = (id: number, more: Partial<LogEntry> = {}): LogEntry => ({
  id,
  time: id,
  worker: "shop",
  version: "1.0.0",
  level: "info",
  source: "app",
  text: `line ${id}`,
  ...more,
});

test("the panel shows only the first frame of the app's code of each stack trace", () => {
  const text =
    "Error: a\n    at node:fs:1:2\n    at /x/node_modules/y/z.js:1:1\n    at own (index.js:3:4)\n    at b.js:1:1\n[cause]: b\n    at c.js:1:1";
  expect(foldStacks(text)).toEqual({ text: "Error: a\n    at own (index.js:3:4)\n[cause]: b\n    at c.js:1:1", foldedFrames: 3 });
});

test("the panel shows the first stack frame if no frame is in the app's code", () => {
  expect(foldStacks("Error\n    at node:fs:1:2\n    at node:net:1:2").text).toBe("Error\n    at node:fs:1:2");
  expect(foldStacks("one\n  two\nthree")).toEqual({ text: "one\n  two\nthree", foldedFrames: 0 });
});

const read = (query: string) => JSON.parse(JSON.stringify(readLogQuery(new URLSearchParams(query)))) as unknown;

test("the panel reads log filters from a URL and ignores invalid values", () => {
  expect(read("level=warn&source=request&status=5xx&since=15m&until=1700000000000")).toEqual({
    level: "warn",
    source: "request",
    status: "5xx",
    since: "15m",
    until: "1700000000000",
  });
  expect(read("level=loud&source=moon&status=9xx&since=now&until=then")).toEqual({});
});

test("a selected time range ends at the current time unless the user selects an end", () => {
  expect(timeRangeOf({ since: "15m" }, 1_700_000_000_000)).toEqual({ startMs: 1_700_000_000_000 - 900_000, endMs: 1_700_000_000_000 });
  expect(timeRangeOf({ since: "1700000000000", until: "1700000060000" }, 0)).toEqual({
    startMs: 1_700_000_000_000,
    endMs: 1_700_000_060_000,
  });
  expect(timeRangeOf({}, 0)).toBeUndefined();
});

test("the panel adds a range selected in the histogram to the menu of time ranges", () => {
  expect(timeChoices({ since: "1h" }).map(({ value }) => value)).toEqual(["", "15m", "1h", "24h", "7d"]);
  expect(timeChoices({ since: "1700000000000", until: "1700000060000" }).at(-1)?.value).toBe("1700000000000");
});

test("the panel counts the log entries of each level in intervals of equal length", () => {
  const rows = [entry(0), entry(1, { level: "error" }), entry(119, { level: "warn" })].map((one) => entryRow(one));
  const counts = countLevels(rows);
  expect(counts).toMatchObject({ startMs: 0, intervalMs: 2, most: 2 });
  expect(counts && [countText(counts, 0), countText(counts, 1), countText(counts, 59)]).toEqual([
    "2 entries, 1 error",
    "0 entries",
    "1 entry, 1 warning",
  ]);
  expect(countLevels([])).toBeUndefined();
  const inRange = countLevels(rows, { startMs: 1, endMs: 61 });
  expect(inRange).toMatchObject({ startMs: 1, intervalMs: 1, oldestMs: 0, most: 1 });
  expect(inRange && countText(inRange, 0)).toBe("1 entry, 1 error");
});

test("the panel positions log rows by their number of lines until rows are measured", () => {
  const layout = new RowLayout();
  const rows = [entry(1), entry(2, { text: "a\nb\nc" }), entry(3)].map((one) => entryRow(one));
  layout.setRows(rows);
  expect([0, 1, 2, 3].map((index) => layout.topPx(index))).toEqual([0, 24, 88, 112]);
  layout.measure(1, [100]);
  expect([layout.topPx(2), layout.totalPx]).toEqual([124, 148]);
  expect([-10, 0, 23, 24, 123, 124, 1000].map((px) => layout.indexAt(px))).toEqual([0, 0, 0, 1, 1, 2, 2]);
  layout.forget();
  expect(layout.totalPx).toBe(112);
});

test("the panel exports log entries as lines of text and as lines of JSON", () => {
  const entries = [entry(1, { text: "a\nb" }), entry(2)];
  expect(exportText(entries, "text")).toBe(
    "1970-01-01T00:00:00.001Z info shop 1.0.0 a\nb\n1970-01-01T00:00:00.002Z info shop 1.0.0 line 2\n",
  );
  expect(exportText(entries, "jsonl")).toBe(entries.map((one) => `${JSON.stringify(one)}\n`).join(""));
});
