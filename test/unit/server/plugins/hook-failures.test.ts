import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HookFailures } from "../../../../src/server/plugins/hooks.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a plugin's failed hooks are summarized until 10 min after the last failure", () => {
  const failures = new HookFailures();
  expect(failures.summary).toBeUndefined();
  failures.note("onResponse", new Error("first"));
  expect(failures.summary).toBe("onResponse failed; 1 failure since it was loaded: first");
  failures.note("onRequest", "no error");
  expect(failures.summary).toBe("onRequest failed; 2 failures since it was loaded: the hook threw a value that is not an Error");
  vi.advanceTimersByTime(10 * 60_000 + 1);
  expect(failures.summary).toBeUndefined();
});
