import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { NewEvent } from "../../../../src/server/events/runtime-events.js";
import type { HealthRecord } from "../../../../src/server/health/health-records.js";
import { WorkerHealthMonitor } from "../../../../src/server/health/worker-health-monitor.js";

const startMs = 1_800_000_000_000;
const checkMs = 5000;

beforeEach(() => {
  vi.useFakeTimers({ now: startMs, toFake: ["setInterval", "clearInterval", "Date", "performance"] });
  return () => vi.useRealTimers();
});

function latency(count: number, p99Ms: number) {
  return { failedCount: 0, recent: () => ({ count, p99Ms }), sinceStart: () => ({ count, p99Ms }) };
}

interface Meter {
  endedCount: number;
  inFlightCount: number;
  latency: ReturnType<typeof latency>;
  countOf: () => number;
}

/** Creates a monitor for the worker `app`, whose versions are all enabled. `stored` contains the states that an earlier monitor stored. */
function createApp(versions: readonly string[], stored = new Map<string, HealthRecord>()) {
  const meters = new Map<string, Meter>();
  const events: NewEvent[] = [];
  const installed = versions.map((version) => ({ version, enabled: true, source: "uploaded" as const }));
  const cron: { failure: string | undefined } = { failure: undefined };
  const data = { isFull: false };
  const monitor = new WorkerHealthMonitor({
    meterOf: (_name, version) => meters.get(version),
    versionsOf: (name) => (name === "app" ? installed : []),
    fullDataNames: () => (data.isFull ? ["app"] : []),
    cronFailureOf: () => cron.failure,
    records: {
      workers: stored,
      put: (_kind, name, record) => void (record ? stored.set(name, record) : stored.delete(name)),
      retain: () => undefined,
    },
    publish: (event) => events.push(event),
    now: Date.now,
    monotonicNow: () => performance.now(),
  });
  onTestFinished(() => monitor.close());
  const serve = (version: string, { succeeded = 0, failed = 0 }): void => {
    const meter = meters.get(version) ?? { endedCount: 0, inFlightCount: 0, latency: latency(0, 0), countOf: () => 0 };
    meter.endedCount += succeeded + failed;
    meter.latency.failedCount += failed;
    meters.set(version, meter);
  };
  const activate = (version: string, at = Date.now() / 1000): void =>
    monitor.noteActive("app", { name: "app", version, installation: { at, by: "ci" } });
  const health = () => monitor.read(() => true)[0];
  return { monitor, meters, events, cron, data, serve, activate, health, stored };
}

const wait = (ms: number) => vi.advanceTimersByTime(ms);

test("a worker stays `failing` without new requests until a request succeeds", () => {
  const app = createApp(["1.0.0"]);
  app.activate("1.0.0");
  app.monitor.start();
  app.serve("1.0.0", { failed: 4 });
  wait(checkMs);
  expect(app.health()).toMatchObject({ state: "failing", since: (startMs + checkMs) / 1000 });
  wait(3_600_000);
  expect(app.health()).toMatchObject({ state: "failing", since: (startMs + checkMs) / 1000, reason: "The last 4 requests failed." });
  app.serve("1.0.0", { succeeded: 1 });
  wait(checkMs);
  expect(app.health()).toMatchObject({ state: "ok" });
  expect(app.events.map(({ type, state, message }) => [type, state, message])).toEqual([
    ["worker.health", "failing", "100 % of requests failed since 1.0.0."],
    ["worker.health", "ok", "ok"],
  ]);
});

test("the health of a worker includes only failed requests of the last minute", () => {
  const app = createApp(["1.0.0"]);
  app.activate("1.0.0");
  app.monitor.start();
  app.serve("1.0.0", { succeeded: 1, failed: 1 });
  wait(checkMs);
  app.serve("1.0.0", { succeeded: 5 });
  expect(app.health()).toMatchObject({ state: "degraded" });
  wait(55_000);
  expect(app.health()).toMatchObject({ state: "degraded" });
  wait(2 * checkMs);
  expect(app.health()).toMatchObject({ state: "idle" });
});

test("a version is named as the cause only of problems within 30 min of its activation", () => {
  const app = createApp(["1.0.0", "1.1.0"]);
  app.activate("1.0.0");
  app.monitor.start();
  wait(5000);
  app.activate("1.1.0");
  wait(30 * 60_000 - checkMs);
  app.serve("1.1.0", { failed: 4 });
  wait(checkMs);
  expect(app.health()).toMatchObject({ suspect: { version: "1.1.0", by: "ci", installedAt: startMs / 1000 + 5 }, rollbackTo: "1.0.0" });

  const later = createApp(["1.0.0"]);
  later.activate("1.0.0");
  later.monitor.start();
  wait(31 * 60_000);
  later.serve("1.0.0", { failed: 4 });
  wait(checkMs);
  expect(later.health()).toMatchObject({ state: "failing", reason: "100 % of requests failed in the last minute." });
  expect(later.health()).not.toHaveProperty("suspect");
  expect(later.health()).not.toHaveProperty("rollbackTo");
});

test("a version is not named as the cause if the previous version had the same problem", () => {
  const app = createApp(["1.0.0", "1.1.0"]);
  app.activate("1.0.0");
  app.monitor.start();
  app.serve("1.0.0", { failed: 4 });
  wait(checkMs);
  app.activate("1.1.0");
  app.serve("1.1.0", { failed: 4 });
  wait(checkMs);
  expect(app.health()).toMatchObject({ version: "1.1.0", state: "failing" });
  expect(app.health()).not.toHaveProperty("suspect");
});

test("the p99 latencies of two versions are compared only from 100 requests on", () => {
  for (const [count, state] of [
    [99, "ok"],
    [100, "degraded"],
  ] as const) {
    const app = createApp(["1.0.0", "1.1.0"]);
    app.activate("1.0.0");
    app.monitor.start();
    app.serve("1.0.0", { succeeded: 100 });
    (app.meters.get("1.0.0") as Meter).latency = latency(100, 50);
    app.activate("1.1.0");
    app.serve("1.1.0", { succeeded: count });
    (app.meters.get("1.1.0") as Meter).latency = latency(count, 300);
    wait(checkMs);
    expect(app.health()).toMatchObject({ state });
  }
});

test("a worker is `degraded` while the last run of one of its cron jobs has failed", () => {
  const app = createApp(["1.0.0"]);
  app.activate("1.0.0");
  app.monitor.start();
  const reason = "The cron job */5 * * * * GET /tick failed: it returned status 500.";
  app.cron.failure = reason;
  wait(checkMs);
  expect(app.health()).toMatchObject({ state: "degraded", reason });
  expect(app.events).toMatchObject([{ type: "worker.health", message: reason }]);
  app.cron.failure = undefined;
  expect(app.health()).toMatchObject({ state: "idle" });
});

test("failed requests with a full data folder have no suspect and no rollback", () => {
  const app = createApp(["1.0.0", "1.1.0"]);
  app.activate("1.0.0");
  app.monitor.start();
  app.activate("1.1.0");
  app.data.isFull = true;
  app.serve("1.1.0", { succeeded: 1, failed: 3 });
  wait(checkMs);
  const reason = "The data folder is full: the worker can only read and delete in it.";
  expect(app.health()).toMatchObject({ state: "failing", reason });
  expect(app.health()).not.toHaveProperty("suspect");
  expect(app.health()).not.toHaveProperty("rollbackTo");
  expect(app.events).toMatchObject([{ type: "worker.health", message: reason }]);
  app.data.isFull = false;
  expect(app.health()).toMatchObject({ state: "failing", reason: "75 % of requests failed in the last minute.", rollbackTo: "1.0.0" });
  expect(app.health()).not.toHaveProperty("suspect");
});

test("a worker that is no longer installed has no health state", () => {
  const app = createApp([]);
  app.monitor.start();
  app.monitor.noteActive("gone", { name: "gone", version: "1.0.0" });
  app.monitor.noteActive("gone", undefined);
  expect(app.health()).toBeUndefined();
});

describe("after a restart of the daemon", () => {
  /** Returns a monitor that starts 1 h after another monitor has found that version 1.0.0 of the worker fails. */
  function restartFailing(cronFailure?: string) {
    const before = createApp(["1.0.0"]);
    before.activate("1.0.0");
    before.monitor.start();
    before.serve("1.0.0", { failed: cronFailure === undefined ? 4 : 0 });
    before.cron.failure = cronFailure;
    wait(checkMs);
    before.monitor.close();
    wait(3_600_000);
    return createApp(["1.0.0"], before.stored);
  }
  const beganAt = (startMs + checkMs) / 1000;

  test("a problem keeps its start time and its suspected version", () => {
    const app = restartFailing();
    app.activate("1.0.0", startMs / 1000);
    app.monitor.start();
    expect(app.health()).toMatchObject({ state: "idle" });
    wait(600_000);
    app.serve("1.0.0", { failed: 1 });
    expect(app.health()).toMatchObject({ state: "degraded", since: beganAt, suspect: { version: "1.0.0", installedAt: startMs / 1000 } });
    app.serve("1.0.0", { failed: 3 });
    expect(app.health()).toMatchObject({ state: "failing", since: beganAt });
    app.serve("1.0.0", { succeeded: 500 });
    expect(app.health()).toMatchObject({ state: "ok" });
    expect(app.stored.size).toBe(0);
    app.serve("1.0.0", { failed: 300 });
    expect(app.health()).toMatchObject({ state: "failing", since: Date.now() / 1000 });
  });

  test("a problem that the daemon finds again during startup keeps its start time", () => {
    const reason = "The cron job */5 * * * * GET /tick failed: it returned status 500.";
    const app = restartFailing(reason);
    app.cron.failure = reason;
    app.activate("1.0.0", startMs / 1000);
    app.monitor.start();
    expect(app.health()).toMatchObject({ state: "degraded", since: beganAt });
    expect(app.health()).not.toHaveProperty("isSinceStart");
  });

  test("a new problem at startup has the daemon's start time and no suspected version", () => {
    const app = createApp(["1.0.0"]);
    app.cron.failure = "The cron job failed.";
    app.activate("1.0.0");
    app.monitor.start();
    expect(app.health()).toMatchObject({ state: "degraded", since: startMs / 1000, isSinceStart: true });
    expect(app.health()).not.toHaveProperty("suspect");
  });

  test("a problem of a version that was installed meanwhile has a new start time", () => {
    const app = restartFailing();
    app.activate("1.0.0");
    app.monitor.start();
    wait(checkMs);
    app.serve("1.0.0", { failed: 4 });
    expect(app.health()).toMatchObject({ state: "failing", since: Date.now() / 1000 });
  });
});
