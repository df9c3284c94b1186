import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test("V8 has the flag that runtimed disables, and enables this flag by default", () => {
  // V8 only prints a warning for an unknown flag.
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(options).toMatch(/--allocation-site-pretenuring .*\n.*default: --allocation-site-pretenuring/);
});
