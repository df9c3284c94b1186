import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { expect, test } from "vitest";

const fileOf = (name: string) => fileURLToPath(new URL(`../../../dist/cli/${name}`, import.meta.url));

test("the bundle of the quick commands holds nothing of zod, and is less than a third of the other", () => {
  // zod's schemas know their names; one contract that is not made ready at build time brings them in.
  expect(readFileSync(fileOf("run-any-command.cjs"), "latin1")).toContain('"$ZodString"');
  expect(readFileSync(fileOf("run-quick-command.cjs"), "latin1")).not.toContain("$Zod");
  expect(statSync(fileOf("run-quick-command.cjs")).size).toBeLessThan(statSync(fileOf("run-any-command.cjs")).size / 3);
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
