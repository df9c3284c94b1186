import { expect, test } from "vitest";
import { assessWorker, type WorkerObservation } from "../../../../src/server/health/assess-worker.js";

const quiet: WorkerObservation = {
  version: {},
  startFailure: undefined,
  crash: undefined,
  recent: { requests: 0, failed: 0, failedInRow: 0 },
  inFlightCount: 0,
  isDataFull: false,
  cronFailure: undefined,
  latency: undefined,
};
const dataFull = "The data folder is full: the worker can only read and delete in it.";
const requests = (count: number, failed: number, failedInRow = 0) => ({ recent: { requests: count, failed, failedInRow } });
const crash = (ageMs: number, restMs: number) => ({ crash: { ageMs, restMs } });

test.each<[about: string, observation: Partial<WorkerObservation>, state: string, reason?: string]>([
  ["no active version", { version: undefined, startFailure: "It failed." }, "disabled"],
  ["no request in the last minute", {}, "idle"],
  ["a running request", { inFlightCount: 1 }, "ok"],
  ["requests that succeed", requests(200, 0), "ok"],
  ["a failed request of more than 100", requests(101, 1), "ok"],
  ["1 % of failed requests", requests(100, 1), "degraded", "1 % of requests failed since 1.2.0."],
  ["less than 25 % of failed requests", requests(100, 24), "degraded", "24 % of requests failed since 1.2.0."],
  ["25 % of failed requests", requests(4, 1), "failing", "25 % of requests failed since 1.2.0."],
  ["fewer than 4 requests that all failed", requests(3, 3, 3), "degraded", "100 % of requests failed since 1.2.0."],
  ["a failed request before the last minute", requests(0, 0, 1), "degraded", "The last request failed."],
  ["4 failed requests before the last minute", requests(0, 0, 4), "failing", "The last 4 requests failed."],
  ["a failed start", { startFailure: "It failed.", ...crash(0, 1000) }, "failing", "It failed."],
  ["an invalid manifest", { version: { problem: "It is invalid." } }, "failing", "It is invalid."],
  ["a delayed start", crash(90_000, 1), "backoff", "The worker crashed repeatedly, so the daemon delays its next start."],
  ["a crash less than 60 s ago", crash(59_999, 0), "backoff", "The worker crashed repeatedly, so the daemon delays its next start."],
  ["a crash 60 s ago", crash(60_000, 0), "failing", "The worker crashed repeatedly, and no request has succeeded since."],
  ["a full data folder", { isDataFull: true }, "degraded", dataFull],
  ["a full data folder and failed requests", { ...requests(4, 3), isDataFull: true }, "failing", dataFull],
  ["a full data folder and a failed start", { startFailure: "It failed.", isDataFull: true }, "failing", `It failed. ${dataFull}`],
  ["a full data folder and an invalid manifest", { version: { problem: "It is invalid." }, isDataFull: true }, "failing", "It is invalid."],
  ["a failed cron job", { cronFailure: "It failed." }, "degraded", "It failed."],
  ["a p99 below 200 ms", { ...requests(200, 0), latency: { p99Ms: 199, beforeMs: 1 } }, "ok"],
  ["a p99 that did not triple", { ...requests(200, 0), latency: { p99Ms: 599, beforeMs: 200 } }, "ok"],
  [
    "a p99 that tripled",
    { ...requests(200, 0), latency: { p99Ms: 600, beforeMs: 200 } },
    "degraded",
    "The p99 latency is 600 ms since 1.2.0; before this version it was 200 ms.",
  ],
])("assessWorker returns the state and the reason for %s", (_about, observation, state, reason) => {
  const assessment = assessWorker({ ...quiet, ...observation });
  expect([assessment.state, assessment.reason?.("since 1.2.0")]).toEqual([state, reason]);
});
