import { describe, expect, test } from "vitest";
import { startText } from "../../../src/cpanel/components/problem-start.js";
import { rangeAt } from "../../../src/cpanel/components/use-visible-rows.js";
import { percent } from "../../../src/cpanel/pages/overview/figures.js";
import { noHistory, rangeOf, sumOfSparklines, toChartMarkers, toSeries } from "../../../src/cpanel/pages/overview/metrics-history.js";
import { currentFigure, tileFigures } from "../../../src/cpanel/pages/overview/tile-figures.js";
import { statusOf } from "../../../src/cpanel/pages/overview/status.js";
import type { WorkerHealth } from "../../../src/shared/contract/worker-health.js";
import type { HistoryRange } from "../../../src/shared/contract/metrics-history.js";
import { incidentsOf, affectedInstances, setUpProblems, type Incident, type ListedInstance } from "../../../src/shared/incidents.js";

const points = {
  at: [100, 110, 200],
  requests: [10, 0, 20],
  failed: [5, 0, 0],
  p50Ms: [1, null, 2],
  p99Ms: [3, null, 4],
  memoryBytes: [1, 2, 3],
  cpuSeconds: [0, 0, 0],
  isolates: [1, 1, 2],
};

function hour(count: number): number[] {
  return Array.from({ length: 60 }, () => count);
}

function incident(kind: Incident["kind"], state: Incident["state"]): Incident {
  return { kind, state, subject: "x", reason: "y" };
}

describe("the history for charts", () => {
  test("contains rates and shares, and a gap where intervals are missing", () => {
    const series = toSeries({ points, stepSeconds: 10 }, 200);
    expect(series.at).toEqual([100, 110, 120, 200]);
    expect(series.requestsPerSecond).toEqual([1, 0, null, 2]);
    expect(series.succeededPerSecond).toEqual([0.5, 0, null, 2]);
    expect(series.failedShare).toEqual([0.5, 0, null, 0]);
    expect(series.p99Ms).toEqual([3, null, null, 4]);
    expect(series.isolates).toEqual([1, 1, null, 2]);
  });

  test("omits the last interval until it has ended", () => {
    expect(toSeries({ points, stepSeconds: 10 }, 195).at).toEqual([100, 110]);
    expect(toSeries({ points, stepSeconds: 10 }, 189).at).toEqual([100, 110, 120, 200]);
  });

  test("adds up the sparklines of all apps to one point for each of 60 minutes", () => {
    const one = { name: "shop", requests: hour(60), failed: hour(30) };
    const series = sumOfSparklines([one, { ...one, name: "blog" }], 7230);
    expect(series.at).toHaveLength(60);
    expect(series.at.at(-1)).toBe(7200);
    expect(series.requestsPerSecond.at(-1)).toBe(2);
    expect(series.failedShare.at(-1)).toBe(0.5);
    expect(series.memoryBytes.at(-1)).toBeNull();
  });

  test("labels the markers of deployments, restarts and starts", () => {
    const markers = [
      { at: 1, type: "deploy", worker: "shop", version: "1.1.0" },
      { at: 2, type: "deploy", worker: "shop" },
      { at: 3, type: "restart" },
      { at: 4, type: "start" },
    ] as const;
    expect(toChartMarkers(markers).map(({ label }) => label)).toEqual(["shop 1.1.0", "shop disabled", "restart", "daemon start"]);
  });

  test.each([
    ["24h", "24h"],
    ["", "1h"],
    ["7d", "1h"],
  ])("with the text %j in the URL covers the range %s", (text, range) => {
    expect(rangeOf(text)).toBe(range);
  });
});

describe("the figures of the overview tiles", () => {
  const minute = { requestsPerSecond: 7, failureShare: 0.5, p99Ms: 9 };

  test("cover the period of their sparklines", () => {
    expect(tileFigures(toSeries({ points, stepSeconds: 10 }, 200), "24h", minute)).toEqual({
      requests: { value: 1, note: "Mean of the recorded 30 s of the last 24 h", values: [1, 0, 2] },
      failing: { value: 0.5 / 3, note: "Of the requests of the last 24 h", values: [0.5, 0, 0] },
      latency: { value: 4, note: "Highest 10-second p99 of the last 24 h", values: [3, 4] },
    });
  });

  test.each<[HistoryRange, number, number, string]>([
    ["1h", 10, 12, "Mean of the recorded 2 min of the last 1 h; Highest 10-second p99 of the last 1 h"],
    ["1h", 10, 359, "Mean of the last 1 h; Highest 10-second p99 of the last 1 h"],
    ["24h", 60, 89, "Mean of the recorded 89 min of the last 24 h; Highest 1-minute p99 of the last 24 h"],
    ["24h", 60, 300, "Mean of the recorded 5 h of the last 24 h; Highest 1-minute p99 of the last 24 h"],
    ["24h", 60, 1439, "Mean of the last 24 h; Highest 1-minute p99 of the last 24 h"],
    ["14d", 900, 288, "Mean of the recorded 3 d of the last 14 d; Highest 15-minute p99 of the last 14 d"],
    ["14d", 900, 1344, "Mean of the last 14 d; Highest 15-minute p99 of the last 14 d"],
  ])("name the recorded time and the interval (range %s, %i s, %i values)", (range, stepSeconds, count, notes) => {
    const values = Array.from({ length: count }, () => 1);
    const { requests, latency } = tileFigures({ ...noHistory, stepSeconds, requestsPerSecond: values, p99Ms: values }, range, minute);
    expect(`${requests.note}; ${latency.note}`).toBe(notes);
  });

  test("cover the last minute if no history exists", () => {
    expect(tileFigures(noHistory, "1h", minute)).toEqual({
      requests: { value: 7, note: "Mean of the last minute", values: [] },
      failing: { value: 0.5, note: "Of the requests of the last minute", values: [] },
      latency: { value: 9, note: "Slowest app of the last minute", values: [] },
    });
  });

  test("add the current value at the end of the sparkline", () => {
    expect(currentFigure(5, [1, null, 2], "1h")).toEqual({ value: 5, note: "Now, and over the last 1 h", values: [1, 2, 5] });
    expect(currentFigure(5, [null], "1h")).toEqual({ value: 5, note: "Now", values: [] });
  });
});

describe("the status sentence of the overview", () => {
  test.each<[string, Incident[], number | undefined, ReturnType<typeof statusOf>]>([
    ["no app", [], 0, { state: "ok", text: "The daemon responds; no app is enabled" }],
    ["one app", [], 1, { state: "ok", text: "The only app has no problem" }],
    ["2,000 apps", [], 2000, { state: "ok", text: "All 2,000 apps have no problem" }],
    ["a key without access to apps", [], undefined, { state: "ok", text: "The daemon responds" }],
    [
      "failures",
      [incident("worker", "failing"), incident("worker", "backoff"), incident("plugin", "failing"), incident("worker", "degraded")],
      9,
      { state: "failing", text: "2 apps are failing · 1 plugin is failing · 1 app is degraded" },
    ],
    [
      "an unreachable daemon",
      [{ kind: "instance", state: "degraded", subject: "1 of 3 instances is unreachable", reason: "y" }, incident("worker", "failing")],
      9,
      { state: "failing", text: "1 app is failing · 1 of 3 instances is unreachable" },
    ],
    ["an expired key", [incident("key", "failing")], 9, { state: "degraded", text: "1 key has expired" }],
  ])("names the most severe incident first (case: %s)", (_what, incidents, served, status) => {
    expect(statusOf(incidents, served)).toEqual(status);
  });
});

test("rangeAt returns the visible rows and nearby rows, rounded to steps", () => {
  expect(rangeAt({ topPx: 200, windowPx: 800, rowHeightPx: 40 })).toEqual({ first: 0, end: 30 });
  expect(rangeAt({ topPx: -4000, windowPx: 800, rowHeightPx: 40 })).toEqual({ first: 84, end: 132 });
});

test("startText adds the day to the time of a start before today", () => {
  const nowMs = new Date(2026, 10, 28, 15, 0).getTime();
  expect(startText(new Date(2026, 10, 28, 14, 2).getTime() / 1000, nowMs)).toBe("14:02");
  expect(startText(new Date(2026, 10, 27, 14, 2).getTime() / 1000, nowMs)).toBe("27 Nov, 14:02");
});

test("percent never shows 0 % for a share above 0", () => {
  expect([percent(0), percent(0.0001), percent(0.019), percent(0.33), percent(1)]).toEqual(["0 %", "0.1 %", "1.9 %", "33 %", "100 %"]);
});

type Key = NonNullable<Parameters<typeof incidentsOf>[0]["keys"]>[number];

describe("incidents of keys", () => {
  const day = 86_400;
  const key: Key = { id: 1, name: "ci", role: "viewer", namespaces: ["*"], createdAt: 0, expiresAt: 20 * day };
  const subjects = (...keys: readonly Key[]) => incidentsOf({ keys, nowSeconds: 10 * day }).map(({ keyId }) => keyId);

  test("include a key that expires within 14 days", () => {
    expect(subjects(key)).toEqual([1]);
  });

  test("omit a key that a newer key with the same name, role and namespaces replaces", () => {
    const newer = { ...key, id: 2, expiresAt: 40 * day };
    expect(subjects(key, newer)).toEqual([]);
    expect(subjects(key, { ...newer, role: "editor" })).toEqual([1]);
  });

  test("omit a key whose whole lifetime is at most one day", () => {
    expect(subjects({ ...key, createdAt: 10 * day, expiresAt: 11 * day })).toEqual([]);
  });
});

const listed = (name: string, state: ListedInstance["state"], problem?: string): ListedInstance => ({
  id: `id-${name}`,
  name,
  state,
  problem,
});
const incidentsOfInstances = (...instances: readonly ListedInstance[]) =>
  incidentsOf({ instances, nowSeconds: 0 }).map(({ state, subject, reason }) => `${state}: ${subject}: ${reason}`);

describe("incidents of daemons", () => {
  test("contain the unreachable daemons with their problems, and the `gone` daemons", () => {
    expect(incidentsOfInstances(listed("a", "ready"), listed("b", "draining"), listed("c", "starting"))).toEqual([]);
    expect(
      incidentsOfInstances(listed("a", "ready"), listed("b", "unreachable", "It did not respond within 2 s."), listed("c", "gone")),
    ).toEqual([
      "degraded: 1 of 3 instances is unreachable: b: It did not respond within 2 s.",
      "degraded: 1 of 3 instances is gone: c: It is gone.",
    ]);
  });

  test("contain the names of at most three daemons", () => {
    const away = ["b", "c", "d", "e", "f"].map((name) => listed(name, "unreachable", "No."));
    expect(incidentsOfInstances(listed("a", "ready"), ...away)).toEqual([
      "degraded: 5 of 6 instances are unreachable: b: No. c: No. d: No. 2 more.",
    ]);
  });

  test("omit a `gone` daemon if another daemon has the same name", () => {
    expect(incidentsOfInstances(listed("a", "ready"), { ...listed("a", "gone"), id: "earlier" })).toEqual([]);
  });
});

const placesOf = (...states: readonly (WorkerHealth["state"] | undefined)[]) =>
  affectedInstances({
    instances: states.map((state, index) => ({
      name: `eu-${index + 1}`,
      id: String(index),
      ...(state ? { state } : { problem: "No." }),
    })),
  });

describe("the incident of a worker on several daemons", () => {
  test.each<[readonly (WorkerHealth["state"] | undefined)[], string | undefined]>([
    [[], undefined],
    [["ok", "idle", undefined], undefined],
    [["ok", "failing", undefined], "On eu-2."],
    [["failing"], "On eu-1."],
    [["failing", "degraded", undefined], "On all 2 instances."],
    [["failing", "failing", "failing", "failing", "ok"], "On eu-1, eu-2, eu-3 and 1 more."],
  ])("names the daemons with the problem (states: %j)", (states, expected) => {
    expect(placesOf(...states)).toBe(expected);
  });

  test("contains the names of the daemons with the problem", () => {
    const instances = [
      { name: "eu-1", id: "1", state: "ok" as const },
      { name: "eu-2", id: "2", state: "failing" as const },
    ];
    const health: WorkerHealth = { name: "shop", version: "1.0.0", state: "failing", since: 0, reason: "It fails.", instances };
    expect(incidentsOf({ workers: [health], nowSeconds: 0 })).toMatchObject([{ kind: "worker", reason: "It fails.", where: "On eu-2." }]);
  });
});

test("setUpProblems returns missing isolation layers and risky settings only", () => {
  const degraded = ["disk-space", "worker-data", "isolation:landlock", "panel-origin", "plugin-uploads"] as const;
  const checks = degraded.map((name) => ({ name, status: "degraded" as const }));
  expect(setUpProblems([...checks, { name: "isolation:seccomp", status: "ok" }]).map(({ name }) => name)).toEqual(degraded.slice(2));
  expect(setUpProblems(undefined)).toEqual([]);
});
