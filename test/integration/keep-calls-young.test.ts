import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test("this V8 has what the daemon switches off, and has it switched on", () => {
  // Of a flag that it does not know V8 would complain on stderr, and go on.
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(options).toMatch(/--allocation-site-pretenuring .*\n.*default: --allocation-site-pretenuring/);
});
