import { describe, expect, test } from "vitest";
import { isRepeatable, withNewestChanges } from "../../../../src/server/http/newest-changes.js";
import { ApiError } from "../../../../src/shared/api-error.js";
import { operations } from "../../../../src/shared/contract/index.js";
import type { ErrorCode } from "../../../../src/shared/errors.js";

/** Calls a function that fails with these errors, one after the other, and then returns "done". Records the order of the calls. */
async function call(errors: readonly Error[], { applyError }: { applyError?: Error } = {}) {
  const calls: string[] = [];
  const left = [...errors];
  const newest = {
    canCause: (code: ErrorCode) => code === "HOST_NOT_FOUND",
    apply: async (code: ErrorCode) => {
      calls.push(`apply ${code}`);
      if (applyError) throw applyError;
    },
  };
  const act = async () => {
    calls.push("act");
    const error = left.shift();
    if (error) throw error;
    return "done";
  };
  const result = await withNewestChanges(newest, { act, beforeRepetition: () => calls.push("repeat") }).catch((error: unknown) => error);
  return { calls, result };
}

const notFound = () => new ApiError("HOST_NOT_FOUND", "No worker has the host name.");

describe("a change", () => {
  test("is tried once more with the newest changes if its object is not found", async () => {
    expect(await call([notFound()])).toEqual({ calls: ["act", "apply HOST_NOT_FOUND", "repeat", "act"], result: "done" });
    const second = notFound();
    expect((await call([notFound(), second])).result).toBe(second);
  });

  test("is not tried again after another error, or without the newest changes", async () => {
    const other = new ApiError("HOST_NOT_ALLOWED", "The host name is reserved.");
    expect(await call([other])).toEqual({ calls: ["act"], result: other });
    const fault = new Error("a fault");
    expect(await call([fault])).toEqual({ calls: ["act"], result: fault });
    const applyError = new ApiError("KEY_STORE_UNAVAILABLE", "The primary does not respond.");
    expect(await call([notFound()], { applyError })).toEqual({ calls: ["act", "apply HOST_NOT_FOUND"], result: applyError });
  });
});

test("only operations with a known caller and a JSON body or none are repeatable", () => {
  const changes = operations.filter(({ endpoint }) => endpoint.method !== "GET");
  expect(operations.filter(({ endpoint }) => endpoint.method === "GET" && isRepeatable(endpoint))).toEqual([]);
  expect(
    changes
      .filter(({ endpoint }) => !isRepeatable(endpoint))
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(["pluginFiles.upload", "plugins.upload", "session.create", "session.remove", "workerFiles.upload", "workers.upload"]);
});
