import { describe, expect, test } from "vitest";
import { arePossibleSparklines, isPossibleHistory } from "../../../../../src/server/metrics/history/check-history.js";
import { mergeHistories, mergeSparklines, type DaemonHistory } from "../../../../../src/server/metrics/history/merge-histories.js";
import type { HistoryMarker, Sparkline } from "../../../../../src/shared/contract/metrics-history.js";

/** Returns a history with one request per interval that ends at one of the given minutes. */
function daemon(instance: string, minutes: readonly number[], markers: readonly HistoryMarker[] = []): DaemonHistory {
  const each = <Value>(value: Value) => minutes.map(() => value);
  const points = {
    at: minutes.map((minute) => minute * 60),
    requests: each(1),
    failed: each(0),
    p50Ms: each(instance === "a" ? 5 : null),
    p99Ms: each(instance === "a" ? 5 : 7),
    memoryBytes: each(1024),
    cpuSeconds: each(0.1),
    isolates: each(2),
  };
  return { instance, history: { stepSeconds: 60, points, markers: [...markers] } };
}

const whole = { isPartial: false, isOfDaemons: true, now: 86_400 };
const ofWorker = { ...whole, isOfDaemons: false };
/** Returns a marker of a deployment. `by` is the name of the key. */
function deploy(at: number, by?: string): HistoryMarker {
  return { at, type: "deploy", worker: "shop", version: "2", ...(by && { by }) };
}

function start(at: number): HistoryMarker {
  return { at, type: "start" };
}

/** Returns a sparkline with requests in the first minute, and one failed request per minute. */
function line(name: string, first: number): Sparkline {
  return {
    name,
    requests: Array.from({ length: 60 }, (_value, minute) => (minute === 0 ? first : 0)),
    failed: Array.from({ length: 60 }, () => 1),
  };
}

const minutesFrom0 = (count: number) => Array.from({ length: count }, (_value, minute) => minute);
const starts = (count: number) => Array.from({ length: count }, (_value, second) => start(second));
const minutesOf = (at: readonly number[]) => at.map((end) => end / 60);

describe("merged histories", () => {
  test("add up counts, memory, CPU time and isolates, and take the highest percentiles", () => {
    const { points, stepSeconds } = mergeHistories([daemon("a", [1, 2]), daemon("b", [1, 2]), daemon("c", [2])], whole);

    expect({ stepSeconds, points }).toEqual({
      stepSeconds: 60,
      points: {
        at: [60, 120],
        requests: [2, 3],
        failed: [0, 0],
        p50Ms: [5, 5],
        p99Ms: [7, 7],
        memoryBytes: [2048, 3072],
        cpuSeconds: [0.2, 0.3],
        isolates: [4, 6],
        incomplete: [false, false],
      },
    });
  });

  test("are incomplete while a daemon did not run, but not before its first interval", () => {
    const { points } = mergeHistories([daemon("a", [1, 2, 3, 4, 5]), daemon("b", [2, 5])], whole);

    expect([points.requests, points.incomplete]).toEqual([
      [1, 2, 1, 1, 2],
      [false, false, true, true, false],
    ]);
  });

  test("omit at most the two newest intervals if a daemon has not completed them", () => {
    const ahead = [1, 2, 3, 4, 5].map((count) =>
      mergeHistories([daemon("a", [1, 2, 3, 4, 5]), daemon("b", [1, 2, 3, 4, 5].slice(0, count))], whole),
    );

    expect(ahead.map(({ points }) => minutesOf(points.at))).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3, 4],
      [1, 2, 3, 4, 5],
    ]);
    expect(ahead.map(({ points }) => points.incomplete?.filter(Boolean).length)).toEqual([2, 1, 0, 0, 0]);
  });

  test("are incomplete in every interval if a daemon gave no response", () => {
    const { points } = mergeHistories([daemon("a", [1, 2])], { ...whole, isPartial: true });
    expect([minutesOf(points.at), points.incomplete]).toEqual([
      [1, 2],
      [true, true],
    ]);
  });

  test("have one marker per change of several daemons, and one per start of a daemon", () => {
    const { markers } = mergeHistories(
      [
        daemon("a", [1], [start(10), deploy(101, "ci"), deploy(400)]),
        daemon("b", [1], [start(11), deploy(100), deploy(130)]),
        daemon("c", [1], [deploy(161)]),
      ],
      whole,
    );

    expect(markers).toEqual([
      { ...start(10), instance: "a" },
      { ...start(11), instance: "b" },
      { ...deploy(100, "ci"), instance: "b" },
      { ...deploy(130), instance: "b" },
      { ...deploy(400), instance: "a" },
    ]);
  });

  test("are incomplete from the start of a daemon that has recorded no interval", () => {
    const minutes = [1, 2, 3, 4, 5];
    const incompleteWith = (other: DaemonHistory, options = whole) =>
      mergeHistories([daemon("a", minutes), other], options).points.incomplete;

    expect(incompleteWith(daemon("b", [], [start(150)]))).toEqual([false, false, true, true, true]);
    expect(incompleteWith(daemon("b", []))).toEqual([true, true, true, true, true]);
    expect(incompleteWith(daemon("b", []), ofWorker)).toEqual([false, false, false, false, false]);
  });

  test("end with this daemon's current interval even if another daemon's clock is ahead", () => {
    const { points } = mergeHistories([daemon("a", [1, 2, 3]), daemon("b", [2, 3, 4, 5, 6])], { ...whole, now: 170 });
    expect([minutesOf(points.at), points.incomplete]).toEqual([
      [1, 2, 3],
      [false, false, false],
    ]);
  });

  test("are merged within 2 s of CPU time if another daemon sends 50,000 markers", () => {
    const markers = Array.from({ length: 50_000 }, (_value, index) => ({ ...deploy(index), version: String(index) }));
    const before = process.cpuUsage();
    expect(mergeHistories([daemon("a", [1]), daemon("b", [1], markers)], whole).markers).toHaveLength(50_000);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });

  test("are empty if no daemon has recorded an interval", () => {
    const { points } = mergeHistories([daemon("a", []), daemon("b", [])], whole);
    expect([points.at, points.requests, points.incomplete]).toEqual([[], [], []]);
  });
});

test("merged sparklines add up each minute of a worker, and are sorted by name", () => {
  const daemons = [[line("shop", 2)], [line("blog", 5), line("shop", 3)]];
  const merged = mergeSparklines(daemons, whole);

  expect(merged.map(({ name, requests, failed }) => [name, requests[0], failed[59]])).toEqual([
    ["blog", 5, 1],
    ["shop", 5, 2],
  ]);
  expect(merged.some((sum) => "isIncomplete" in sum)).toBe(false);
  expect(mergeSparklines(daemons, { ...whole, isPartial: true }).map(({ isIncomplete }) => isIncomplete)).toEqual([true, true]);
});

describe("the history of another daemon", () => {
  const selection = { worker: "shop", range: "1h" } as const;

  test.each([
    ["61 intervals", daemon("b", minutesFrom0(61)).history, true],
    ["62 intervals", daemon("b", minutesFrom0(62)).history, false],
    ["1000 markers", daemon("b", [1], starts(1000)).history, true],
    ["1001 markers", daemon("b", [1], starts(1001)).history, false],
    ["intervals of another length", { ...daemon("b", [1]).history, stepSeconds: 10 as const }, false],
    ["lists of different lengths", { ...daemon("b", [1]).history, points: { ...daemon("b", [1]).history.points, failed: [] } }, false],
  ])("is accepted only if it is valid and within the limits (case %#: %s)", (_name, history, isPossible) => {
    expect(isPossibleHistory(history, selection)).toBe(isPossible);
  });

  test("is rejected if its sparklines exceed 60 minutes or have lists of unequal length", () => {
    const sparkline = line("shop", 1);
    expect(arePossibleSparklines([sparkline])).toBe(true);
    expect(arePossibleSparklines([sparkline, { ...sparkline, failed: [] }])).toBe(false);
    expect(arePossibleSparklines([{ name: "shop", requests: minutesFrom0(61), failed: minutesFrom0(61) }])).toBe(false);
  });
});
