import { expect, test } from "vitest";
import { failureShare, percentOf, requestHealth } from "../../../src/shared/failure-share.js";

const none = { perSecond: 0, failedPerSecond: 0 };

test.each([
  ["no request", [none], 0, "ok"],
  ["failures before the last minute", [{ ...none, perSecond: 2 }], 0, "ok"],
  ["failures in the last minute", [{ perSecond: 2, failedPerSecond: 2 }], 1, "failing"],
  [
    "several versions",
    [
      { ...none, perSecond: 1, failedPerSecond: 0.1 },
      { ...none, perSecond: 9 },
    ],
    0.01,
    "degraded",
  ],
  ["a small share of failures", [{ ...none, perSecond: 1000, failedPerSecond: 1 }], 0.001, "ok"],
])("runtimectl computes the failure share and the health state (requests: %s)", (_what, counts, share, health) => {
  expect(failureShare(counts)).toBeCloseTo(share);
  expect(requestHealth(failureShare(counts))).toBe(health);
});

test.each([
  [0.001, "<1 %"],
  [0.13, "13 %"],
  [0.999, "99 %"],
  [1, "100 %"],
])("runtimectl formats the failure share %d as the text %s", (share, text) => {
  expect(percentOf(share)).toBe(text);
});
