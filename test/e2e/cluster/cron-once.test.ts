import { afterAll, beforeAll, expect, test } from "vitest";
import type { CronRun } from "../../../src/shared/contract/cron.js";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { recordCronCalls, type CronRecorder } from "../../support/record-cron-calls.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startSqld, type Sqld } from "../../support/start-sqld.js";

const slots = 30;
const names = ["a", "b", "c"];

let sqld: Sqld;
let daemons: TestDaemon[];
let recorder: CronRecorder;

const manifest = `name: jobs
version: 1.0.0
network: { mode: all }
cron:
  - { schedule: "* * * * * *", endpoint: /one }
  - { schedule: "* * * * * *", endpoint: /every, on: every }
`;

beforeAll(async () => {
  recorder = await recordCronCalls();
  sqld = await startSqld();
  daemons = await Promise.all(
    names.map((name) =>
      startDaemon({
        env: {
          RUNTIME_AUTH_DB_MODE: "sync",
          RUNTIME_AUTH_DB_SYNC_URL: sqld.url,
          RUNTIME_INSTANCE_NAME: name,
          RUNTIME_WORKER_NETWORK: "all",
        },
      }),
    ),
  );
  for (const [index, { url: daemonUrl, rootKey }] of daemons.entries()) {
    const files = { "manifest.yaml": manifest, "index.js": recorder.codeFor(names[index] as string) };
    await connect(daemonUrl, rootKey).workers.upload({ file: uploadOf("jobs.tgz", new Uint8Array(await packFiles(files))) });
  }
});

afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.dispose()));
  await sqld.dispose();
  recorder.close();
});

/** Returns the names of the daemons that called a job in the same second, for each second with a call. */
function callersBySecond(job: string): string[][] {
  const calls = recorder.calls.filter((call) => call.job === job);
  return [...Map.groupBy(calls, ({ atMs }) => Math.floor(atMs / 1000)).values()].map((group) => group.map(({ daemon }) => daemon));
}

const ran = () => callersBySecond("/one").length;

async function runsOf(daemon: TestDaemon): Promise<{ one: CronRun[]; every: CronRun[]; problem: string | undefined }> {
  const [one, every] = await connect(daemon.url, daemon.rootKey).cron.list({ query: { worker: "jobs" } });
  return { one: one?.runs ?? [], every: every?.runs ?? [], problem: one?.problem };
}

test(`a cron job runs on one daemon per slot, or on each daemon with \`on: every\``, { timeout: 120_000 }, async () => {
  const [first, second] = daemons as [TestDaemon, TestDaemon];
  const finished = async () => (await runsOf(first)).one.filter(({ outcome }) => outcome === "ok").length;

  await expect.poll(finished, { timeout: 90_000, interval: 500 }).toBeGreaterThanOrEqual(slots);

  const { one, every } = await runsOf(second);
  const starts = one.map(({ at }) => at).toSorted((a, b) => a - b);
  expect(new Set(starts).size).toBe(starts.length);
  const inOne = callersBySecond("/one");
  expect(inOne.map((callers) => callers.length)).toEqual(inOne.map(() => 1));
  expect(inOne.length).toBeGreaterThanOrEqual(slots);
  for (const { instance } of one) expect(names).toContain(instance);
  expect(new Set(one.map(({ instance }) => instance)).size).toBeGreaterThan(1);
  // The daemons have no addresses, so each lists only its own runs of this job.
  expect(new Set(every.map(({ instance }) => instance))).toEqual(new Set([names[1]]));
  const everywhere = callersBySecond("/every").filter((callers) => new Set(callers).size === names.length);
  expect(everywhere.length).toBeGreaterThan(slots / 2);
});

test("no cron job runs while the primary is stopped; missed runs are listed as skipped", { timeout: 120_000 }, async () => {
  const [first] = daemons as [TestDaemon];
  await sqld.kill();
  const killedAt = Math.floor(Date.now() / 1000);
  await expect.poll(async () => (await runsOf(first)).problem).toMatch(/only the runs of this daemon/);
  await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(killedAt + 3);
  const before = ran();
  await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(killedAt + 7);
  expect(ran()).toBe(before);

  await sqld.restart();

  const skipped = async () =>
    (await runsOf(first)).one.filter(({ at, outcome }) => outcome === "skipped" && at > killedAt + 3 && at <= killedAt + 7);
  await expect.poll(async () => (await skipped()).length, { timeout: 60_000 }).toBe(4);
  const [run] = await skipped();
  expect(run).toMatchObject({ durationMs: null, status: null, error: expect.stringMatching(/no daemon could run|did not confirm/) });
  await expect.poll(ran, { timeout: 30_000 }).toBeGreaterThan(before);
});
