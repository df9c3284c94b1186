import { describe, expect, test } from "vitest";
import { MetricRing, encodeRow, rowBytes } from "../../../../../src/server/metrics/history/metric-ring.js";
import { combineRows, type MetricRow } from "../../../../../src/server/metrics/history/metric-row.js";

function row(slot: number, requests = 1): MetricRow {
  return { slot, requests, failed: 0, p50Ms: 2, p99Ms: 8, memoryKilobytes: 1024, cpuSeconds: 0.5, isolates: 1 };
}

function ringOf(size: number, ...slots: number[]): MetricRing {
  const ring = new MetricRing(size);
  for (const slot of slots) ring.put(row(slot));
  return ring;
}

const slotsOf = (ring: MetricRing) => ring.rows().map(({ slot }) => slot);

describe("a metric ring", () => {
  test("keeps only the newest rows when more rows are added than its maximum", () => {
    const ring = ringOf(10, ...Array.from({ length: 35 }, (_, slot) => slot));

    expect(slotsOf(ring)).toEqual([25, 26, 27, 28, 29, 30, 31, 32, 33, 34]);
    expect(ring.newestSlot).toBe(34);
  });

  test("adds no rows for the intervals between two consecutive rows", () => {
    const ring = ringOf(10, 1, 2, 900, 901);

    expect(slotsOf(ring)).toEqual([1, 2, 900, 901]);
    expect(ring.get(3)).toBeUndefined();
    expect(ring.rows(2, 900).map(({ slot }) => slot)).toEqual([2, 900]);
  });

  test("inserts earlier rows in order, without deleting or duplicating rows", () => {
    const ring = ringOf(10, 100, 101, 5, 6, 101, 102);

    expect(slotsOf(ring)).toEqual([5, 6, 100, 101, 102]);
  });

  test("inserts earlier rows in order after it has dropped its oldest rows", () => {
    const ring = ringOf(4, 10, 20, 30, 40, 50, 35, 1);

    expect(slotsOf(ring)).toEqual([30, 35, 40, 50]);
  });

  test("keeps the row with the most requests when several rows are for the same slot", () => {
    const ring = new MetricRing(4);
    for (const requests of [3, 9, 4]) ring.put(row(7, requests));

    expect(ring.rows()).toEqual([row(7, 9)]);
  });

  test("can be restored from encoded rows, without an incomplete row at the end", () => {
    const ring = ringOf(10, 1, 2, 3);
    const bytes = Buffer.concat([ring.encode(2), encodeRow(row(9)).subarray(0, 20)]);
    const decoded = new MetricRing(10);
    decoded.putEncoded(bytes);

    expect(bytes.length).toBe(2 * rowBytes + 20);
    expect(decoded.rows()).toEqual([row(2), row(3)]);
  });

  test("uses memory only for its rows, and frees the memory of dropped rows", () => {
    const ring = ringOf(1440, 1);
    expect(ring.sizeBytes).toBe(8 * rowBytes);
    for (let slot = 0; slot < 1440; slot += 1) ring.put(row(slot));
    expect(ring.sizeBytes).toBe(1440 * rowBytes);
    ring.keepNewest(60);

    expect(ring.sizeBytes).toBe(60 * rowBytes);
    expect(slotsOf(ring)).toEqual(Array.from({ length: 60 }, (_, index) => 1380 + index));
  });
});

describe("combined rows", () => {
  test("have sums of counts, maximums of gauges and percentiles weighted by requests", () => {
    const slow = { ...row(1, 10), p50Ms: 500, p99Ms: 900, memoryKilobytes: 4096, isolates: 3 };
    const combined = combineRows(5, [slow, row(2, 10_000), { ...row(3, 0), p50Ms: Number.NaN, p99Ms: Number.NaN }]);

    expect(combined).toEqual({ ...row(5, 10_010), cpuSeconds: 1.5, memoryKilobytes: 4096, isolates: 3 });
  });
});
