import { readdir } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { openHistory } from "../../../../support/history-harness.js";

const mb = 1024 * 1024;
const names = Array.from({ length: 2000 }, (_, number) => `worker-${number}`);

test("the metrics history of 2,000 active workers stays within the memory limit", { timeout: 60_000 }, async () => {
  const limitBytes = 24 * mb;
  const harness = await openHistory(limitBytes);
  let most = 0;
  for (let minute = 0; minute < 300; minute += 1) {
    for (const name of minute < 3 || minute % 10 === 0 ? names : names.slice(0, 200)) harness.request(name);
    await harness.minute();
    most = Math.max(most, harness.history.sizeBytes);
  }

  expect(most).toBeLessThan(limitBytes);
  expect(harness.warnings).toEqual([]);
  expect((await harness.requestsOf("worker-0")).filter(([, requests]) => requests === 1)).toHaveLength(300);
  expect((await harness.requestsOf("worker-1999")).filter(([, requests]) => requests === 1)).toHaveLength(32);
});

test("the metrics history moves idle workers to disk to free memory for active workers", async () => {
  const harness = await openHistory(2 * mb);
  for (let minute = 0; minute < 10; minute += 1) {
    for (const name of names.slice(minute * 100, minute * 100 + 100)) harness.request(name);
    await harness.minute();
    expect(harness.history.sizeBytes).toBeLessThan(4 * mb);
  }

  expect((await readdir(path.join(harness.directory, "workers"))).length).toBeGreaterThan(100);
  expect(await harness.requestsOf("worker-0")).toContainEqual([1, 1]);
});

test("the metrics history warns once when the active workers exceed the memory limit", async () => {
  const harness = await openHistory(2 * mb);
  for (let minute = 0; minute < 3; minute += 1) {
    for (const name of names) harness.request(name);
    await harness.minute();
  }
  const shown = harness.history.sparklines(() => true);

  expect(shown.length).toBeGreaterThan(50);
  expect(shown.length).toBeLessThan(2000);
  expect(harness.warnings).toHaveLength(1);
  expect(harness.warnings[0]).toContain("RUNTIME_METRICS_HISTORY_SIZE");
});
