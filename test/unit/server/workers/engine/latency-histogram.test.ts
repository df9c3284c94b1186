import { describe, expect, test } from "vitest";
import { LatencyHistogram } from "../../../../../src/server/workers/engine/latency-histogram.js";

const secondMs = 1000;

describe("latency percentiles", () => {
  test.each([
    ["microsecond", (share: number) => 0.02 + share * 0.2],
    ["millisecond", (share: number) => 1 + share * 40],
    ["long-tailed", (share: number) => Math.exp(share * 12 - 4)],
    ["bimodal", (share: number) => (share < 0.97 ? 2 + share : 900 + share)],
  ])("are within 5 % of the exact value for the distribution %s", (_what, durationOf) => {
    const histogram = new LatencyHistogram(0);
    const durations = Array.from({ length: 10_000 }, (_, index) => durationOf(index / 10_000));
    for (const durationMs of durations) histogram.record(durationMs, 1);

    const summary = histogram.sinceStart();

    expect(summary.count).toBe(10_000);
    expect(summary.maximumMs).toBe(durations.at(-1));
    for (const [value, share] of [
      [summary.p50Ms, 0.5],
      [summary.p90Ms, 0.9],
      [summary.p99Ms, 0.99],
    ] as const) {
      const exactMs = durations[Math.ceil(10_000 * share) - 1] as number;
      expect(Math.abs((value as number) - exactMs) / exactMs).toBeLessThan(0.05);
    }
  });

  test("are undefined when no value was recorded", () => {
    const histogram = new LatencyHistogram(0);
    const nothing = { count: 0, failedCount: 0, p50Ms: undefined, p90Ms: undefined, p99Ms: undefined, maximumMs: undefined };
    expect(histogram.sinceStart()).toEqual(nothing);
    expect(histogram.recent(10 * secondMs)).toEqual({ ...nothing, windowMs: 10 * secondMs });
  });

  test("are finite for extreme latencies", () => {
    const histogram = new LatencyHistogram(0);
    for (const durationMs of [0, 1e9, 1e15]) histogram.record(durationMs, 0);
    expect(histogram.sinceStart()).toMatchObject({ count: 3, p50Ms: expect.closeTo(2 ** 20, -6), maximumMs: 1e15 });
  });
});

describe("the latency of the last minute", () => {
  test("includes all values of the last 60 s and no value older than 90 s", () => {
    const histogram = new LatencyHistogram(0);
    const everyMs = 500;
    for (let nowMs = 0; nowMs <= 600 * secondMs; nowMs += everyMs) {
      histogram.record(nowMs < 300 * secondMs ? 100 : 1, nowMs);
      const { count, windowMs } = histogram.recent(nowMs);
      expect(windowMs).toBeLessThanOrEqual(90 * secondMs);
      expect(windowMs).toBeGreaterThanOrEqual(Math.min(Math.max(nowMs, secondMs), 60 * secondMs));
      expect(Math.abs(count - windowMs / everyMs)).toBeLessThanOrEqual(2);
    }
    expect(histogram.recent(600 * secondMs).maximumMs).toBe(1);
    expect(histogram.sinceStart()).toMatchObject({ count: 1201, maximumMs: 100 });
  });

  test("includes failed requests of the last 60 s and none older than 90 s", () => {
    const histogram = new LatencyHistogram(0);
    for (let second = 0; second < 10; second += 1) histogram.record(1, second * secondMs, second % 2 === 0);
    expect(histogram.recent(10 * secondMs)).toMatchObject({ count: 10, failedCount: 5 });
    histogram.record(1, 100 * secondMs);
    expect(histogram.recent(100 * secondMs)).toMatchObject({ count: 1, failedCount: 0 });
    expect(histogram.failedCount).toBe(5);
  });

  test("is empty after minutes without requests, and includes the next request", () => {
    const histogram = new LatencyHistogram(0);
    histogram.record(5, secondMs);
    expect(histogram.recent(2 * secondMs)).toMatchObject({ count: 1, windowMs: 2 * secondMs });
    expect(histogram.recent(200 * secondMs)).toMatchObject({ count: 0, windowMs: 60 * secondMs });

    histogram.record(3, 300 * secondMs);
    expect(histogram.recent(301 * secondMs)).toMatchObject({ count: 1, maximumMs: 3, windowMs: 60 * secondMs });
    expect(histogram.sinceStart()).toMatchObject({ count: 2, maximumMs: 5 });
  });
});

test("the latency histogram has exact counts for the buckets of Prometheus", () => {
  const boundsMs = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 400, 1600, 6400, 25_600];
  const histogram = new LatencyHistogram(0);
  for (const boundMs of boundsMs) for (const factor of [0.9995, 1]) histogram.record(boundMs * factor, 0);
  expect(histogram.countsBelow(boundsMs)).toEqual(boundsMs.map((_, index) => 2 * index + 1));
});
