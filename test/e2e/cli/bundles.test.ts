import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { expect, test } from "vitest";

const fileOf = (name: string) => fileURLToPath(new URL(`../../../dist/cli/${name}`, import.meta.url));

test("the bundle of the quick commands holds no methods of zod, and is less than half of the other", () => {
  // Of a method that the classic API alone has; one contract that is not made with zod/mini brings it in.
  expect(readFileSync(fileOf("run-any-command.cjs"), "latin1")).toContain("superRefine(");
  expect(readFileSync(fileOf("run-quick-command.cjs"), "latin1")).not.toContain("superRefine(");
  expect(statSync(fileOf("run-quick-command.cjs")).size).toBeLessThan(statSync(fileOf("run-any-command.cjs")).size / 2);
});

test.each(["run-any-command", "run-quick-command", "run-dashboard"])(
  "V8 takes the code cache of %s, and reads its source as it is",
  (name) => {
    const source = readFileSync(fileOf(`${name}.cjs`), "utf8");
    expect(source).toBe(readFileSync(fileOf(`${name}.cjs`), "latin1"));
    const script = new Script(source, { cachedData: readFileSync(fileOf(`${name}.cache`)) });
    expect(script.cachedDataRejected).toBe(false);
  },
);
