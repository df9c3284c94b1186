import { expect, test } from "vitest";
import { workerFields } from "../../../../src/server/packages/configuration/worker-fields.js";

/** Returns the configuration field `instances` of a daemon with this pool size. */
function instances(poolSize: number, value: number) {
  const limits = { workerMemoryMaxBytes: 1, maxBodySizeBytes: 1, workerDataMaxBytes: 1, poolSize, permissions: [], networkMode: "public" };
  const rules = { limits, refusal: () => undefined, hostProblem: () => undefined };
  return workerFields(rules, "shop", { instances: value }, {}).find(({ name }) => name === "instances");
}

test("the limit of `instances` is the pool size or the maximum of the manifest", () => {
  expect(instances(500, 2)).toMatchObject({ value: 2, source: "manifest", limit: 64 });
  expect(instances(20, 2)).toMatchObject({ value: 2, source: "manifest", limit: 20 });
});

test("the limit of `instances` replaces a value above the pool size", () => {
  const note = "RUNTIME_POOL_SIZE allows 20 isolates; the manifest requests 30.";
  expect(instances(20, 30)).toMatchObject({ value: 20, source: "limit", limit: 20, note });
});
