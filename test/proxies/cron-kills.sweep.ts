import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Primary } from "../../src/server/access/replica/primary-client.js";
import { connect, uploadOf } from "../support/connect.js";
import { packFiles } from "../support/pack-files.js";
import { recordCronCalls, type CronCall } from "../support/record-cron-calls.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { startSqld } from "../support/start-sqld.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const names = ["a", "b", "c"];
const jobs = 10;
const seconds = 100;
/** Each kill comes at a random time within this span after the previous recovery. */
const killSpanMs = 5_000;
/** Interval at which the test reads the leases. The primary keeps those of the last 50 s of each job. */
const readIntervalMs = 2_000;
/** Latest call after the time of a slot: 5 s of tolerance, and the time of a request on a busy machine. */
const latestCallMs = 12_000;

interface Slot {
  readonly job: string;
  readonly slotMs: number;
  readonly instance: string;
  readonly state: string;
  /** Start in Unix seconds and duration of a run. A failed run has possibly no call, for example after the test disables the worker. */
  readonly result: { readonly at?: number; readonly durationMs?: number; readonly outcome?: string } | null;
}

const manifest = `name: jobs
version: 1.0.0
network: { mode: all }
cron:
${Array.from({ length: jobs }, (_, job) => `  - { schedule: "* * * * * *", endpoint: /job-${job} }`).join("\n")}
`;

/** Returns the calls that belong to no slot of their daemon, and the successful runs without a call. */
function compare(slots: readonly Slot[], calls: readonly CronCall[]): { unexplained: CronCall[]; uncalled: Slot[]; calledUnknown: number } {
  const open = new Set(calls.toSorted((one, other) => one.atMs - other.atMs));
  const take = ({ job, instance }: Slot, fromMs: number, untilMs: number): boolean => {
    const found = [...open].find((call) => call.job === job && call.daemon === instance && call.atMs >= fromMs && call.atMs <= untilMs);
    return found !== undefined && open.delete(found);
  };
  const byTime = slots.toSorted((one, other) => (one.result?.at ?? one.slotMs) - (other.result?.at ?? other.slotMs));
  const uncalled = byTime.filter(({ state, result, ...slot }) => {
    const fromMs = (result?.at ?? 0) * 1000;
    return state === "ran" && !take({ state, result, ...slot }, fromMs, fromMs + 1_000 + (result?.durationMs ?? 0));
  });
  const unaccounted = uncalled.filter(({ result }) => result?.outcome === "ok");
  const unknown = byTime.filter(({ state }) => state === "unknown");
  const calledUnknown = unknown.filter((slot) => take(slot, slot.slotMs - 1_000, slot.slotMs + latestCallMs)).length;
  return { unexplained: [...open], uncalled: unaccounted, calledUnknown };
}

test(`each of ${jobs * seconds} cron slots runs at most once while daemons are killed`, { timeout: 10 * 60_000 }, async () => {
  const { calls, codeFor, close } = await recordCronCalls();
  onTestFinished(() => void close());
  const sqld = await startSqld();
  onTestFinished(sqld.dispose);
  const primary = await Primary.at({ url: sqld.url, token: undefined, deadlineMs: 20_000 });
  onTestFinished(() => primary.close());
  const start = async (name: string, directory: string): Promise<TestDaemon> =>
    startDaemon({
      directory,
      env: {
        RUNTIME_AUTH_DB_MODE: "sync",
        RUNTIME_AUTH_DB_SYNC_URL: sqld.url,
        RUNTIME_INSTANCE_NAME: name,
        RUNTIME_WORKER_NETWORK: "all",
      },
    });
  const daemons = await Promise.all(names.map(async (name) => start(name, await temporaryDirectory())));
  onTestFinished(async () => void (await Promise.all(daemons.map((daemon) => daemon.kill()))));
  for (const [index, daemon] of daemons.entries()) {
    const files = { "manifest.yaml": manifest, "index.js": codeFor(names[index] as string) };
    await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("jobs.tgz", await packFiles(files)) });
  }
  const beginMs = Math.ceil(Date.now() / 1000) * 1000 + 5_000;
  const endMs = beginMs + seconds * 1000;
  const slots = new Map<string, Slot>();
  const read = async () => {
    const [rows = []] = await primary.read({ sql: "SELECT name, queue, slot_ms, instance, state, result FROM leases", values: [] });
    for (const { name, queue, slot_ms: slotMs, instance, state, result } of rows)
      slots.set(String(name), {
        job: /\/job-\d+/.exec(String(queue))?.[0] ?? String(queue),
        slotMs: Number(slotMs),
        instance: String(instance),
        state: String(state),
        result: result === null || result === undefined ? null : (JSON.parse(String(result)) as Slot["result"]),
      });
  };
  const isCounted = ({ slotMs }: Slot) => slotMs >= beginMs && slotMs < endMs;
  const openSlots = () => [...slots.values()].filter(({ state }) => state === "taken").length;
  const ending = new AbortController();
  const reading = (async () => {
    while (!ending.signal.aborted) {
      await read();
      await delay(readIntervalMs);
    }
  })();

  let kills = 0;
  while (Date.now() < endMs) {
    await delay(Math.random() * killSpanMs);
    const index = Math.floor(Math.random() * names.length);
    const daemon = daemons[index] as TestDaemon;
    await daemon.kill();
    kills += 1;
    await delay((Math.random() * killSpanMs) / 2);
    daemons[index] = await start(names[index] as string, daemon.directory);
  }
  await expect.poll(() => [...slots.values()].filter(isCounted).length, { timeout: 120_000, interval: 1_000 }).toBe(jobs * seconds);
  for (const { url: daemonUrl, rootKey } of daemons)
    await connect(daemonUrl, rootKey).workers.disable({ params: { scope: "_", name: "jobs", version: "1.0.0" } });
  await expect.poll(openSlots, { timeout: 120_000, interval: 1_000 }).toBe(0);
  await delay(readIntervalMs);
  ending.abort();
  await reading;

  const { unexplained, uncalled, calledUnknown } = compare([...slots.values()], calls);
  const counts: Record<string, number> = {};
  for (const { state } of [...slots.values()].filter(isCounted)) counts[state] = (counts[state] ?? 0) + 1;
  console.log({
    kills,
    counted: jobs * seconds,
    ...counts,
    allSlots: slots.size,
    calls: calls.length,
    calledUnknown,
    unexplained,
    uncalled,
  });
  expect(unexplained).toEqual([]);
  expect(uncalled).toEqual([]);
  expect(Object.keys(counts).toSorted()).toEqual(["ran", "skipped", "unknown"]);
});
