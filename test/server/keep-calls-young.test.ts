import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test("this V8 has what the daemon switches off, and has it switched on", () => {
  // A flag that it does not know would be passed over in silence.
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(options).toMatch(/--allocation-site-pretenuring .*\n.*default: --allocation-site-pretenuring/);
});
