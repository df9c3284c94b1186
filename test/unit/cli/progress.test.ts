import { expect, test } from "vitest";
import { describeProgress } from "../../../src/cli/output/progress.js";

const megabyte = 1024 * 1024;
const bar = `${"█".repeat(6)}${"░".repeat(18)}`;

test.each([
  [100, `${bar} 10.0 MB of 40.0 MB`],
  [4_000, `${bar} 10.0 MB of 40.0 MB, 2.5 MB/s, 12 s left`],
  [100_000, `${bar} 10.0 MB of 40.0 MB, 102.4 kB/s, 5 min left`],
])("runtimectl formats the progress of 10 of 40 MB after %i ms as the text %s", (elapsedMs, expected) => {
  expect(describeProgress({ doneBytes: 10 * megabyte, totalBytes: 40 * megabyte, elapsedMs })).toBe(expected);
});

test("runtimectl prints no transfer rate before the first byte is sent", () => {
  expect(describeProgress({ doneBytes: 0, totalBytes: megabyte, elapsedMs: 5_000 })).toBe(`${"░".repeat(24)} 0 B of 1.0 MB`);
});
