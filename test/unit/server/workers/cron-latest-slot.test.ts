import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLog } from "../../../../src/server/log/log.js";
import { CronJobs } from "../../../../src/server/workers/cron.js";
import { CronRuns } from "../../../../src/server/workers/cron-runs.js";
import type { CronSlots } from "../../../../src/server/workers/cron-slots.js";
import { WorkerManifest } from "../../../../src/shared/worker-manifest.js";

const startMs = Date.parse("2026-01-01T00:00:00.400Z");

beforeEach(() => void vi.useFakeTimers({ now: startMs, toFake: ["Date", "setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

test("a daemon that slept for an hour requests the newest slot of each job", async () => {
  const requested: string[] = [];
  const slots: Pick<CronSlots, "watch" | "unwatch" | "run"> = {
    watch: () => undefined,
    unwatch: () => undefined,
    run: async ({ schedule }, slotMs) => void requested.push(`${schedule} ${new Date(slotMs).toISOString()}`),
  };
  const jobs = new CronJobs({
    runs: await CronRuns.open({ file: path.join(os.tmpdir(), "missing-cron-runs.jsonl"), log: createLog({ level: "silent" }) }),
    slots: slots as CronSlots,
    now: () => Date.now() / 1000,
    call: () => Promise.reject(new Error("no job runs on this daemon")),
    writeLog: () => undefined,
  });
  const cron = ["* * * * * *", "*/5 * * * *"].map((schedule) => ({ schedule, endpoint: "/", method: "GET" }));
  const manifest = WorkerManifest.parse({ name: "app", version: "1.0.0", cron });
  jobs.plan("app", { name: "app", version: "1.0.0", folder: "/app", generation: "1", manifest });
  jobs.start();

  await vi.advanceTimersByTimeAsync(1_000);
  vi.setSystemTime(Date.parse("2026-01-01T01:07:30.700Z"));
  requested.length = 0;
  await vi.advanceTimersByTimeAsync(1_000);
  await vi.advanceTimersByTimeAsync(30_000);
  jobs.close();

  expect(requested[0]).toBe("* * * * * * 2026-01-01T01:07:31.000Z");
  expect(requested.find((text) => text.startsWith("*/5"))).toBe("*/5 * * * * 2026-01-01T01:05:00.000Z");
});
