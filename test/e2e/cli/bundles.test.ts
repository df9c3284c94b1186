import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const fileOf = (name: string) => fileURLToPath(new URL(`../../../dist/cli/${name}`, import.meta.url));

test("the bundle of the quick commands holds no methods of zod, and is less than half of the other", () => {
  // Of a method that the classic API alone has; one contract that is not made with zod/mini brings it in.
  expect(readFileSync(fileOf("run-any-command.cjs"), "latin1")).toContain("superRefine(");
  expect(readFileSync(fileOf("run-quick-command.cjs"), "latin1")).not.toContain("superRefine(");
  expect(statSync(fileOf("run-quick-command.cjs")).size).toBeLessThan(statSync(fileOf("run-any-command.cjs")).size / 2);
});

test.each(["run-any-command", "run-quick-command"])("%s has a code cache beside it", (name) => {
  expect(statSync(fileOf(`${name}.cache`)).size).toBeGreaterThan(0);
});
